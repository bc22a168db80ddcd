// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kiln/kernels/population/population_step.hpp"

#include "backends/backends.hpp"

// Launches of population_step with all that it reads and writes.
namespace kiln::test::population_step {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Inputs {
  std::int64_t groups = 1, replicas = 1;
  std::vector<double> energy;
  PopulationPlan plan;
  RunControl control;
  std::uint32_t sweeps_per_tick = 1;
  double inverse_scale = 1;
  std::int64_t max_records = 8;
  bool at_once = true;  ///< a GPU may make all passes in one launch
};

struct Outputs {
  std::vector<Population> populations;
  std::vector<double> beta;
  std::vector<std::uint32_t> begins;
  std::vector<std::uint64_t> weight;
  std::vector<PopulationEnd> ends;
  std::vector<PopulationRecord> records;
  PopulationHistory history;
};

inline Inputs make_inputs(std::int64_t groups, std::int64_t replicas, std::uint64_t seed) {
  TestRandom random(seed);
  Inputs in;
  in.groups = groups;
  in.replicas = replicas;
  in.plan.beta_max = 3;
  for (std::int64_t i = 0; i < groups * replicas; ++i) {
    in.energy.push_back(std::floor(10 * (random.unit() + random.unit() + random.unit())) - 40);
  }
  return in;
}

/// Keeps what a population annealing run keeps, so that ticks can follow each other.
class DevicePopulations {
 public:
  DevicePopulations(Queue& queue, const Inputs& in)
      : queue_(queue),
        in_(in),
        energy_(queue, in.energy),
        populations_(queue, std::vector<Population>(idx(in.groups), begun(in))),
        choice_(queue, std::vector<PopulationChoice>(1)),
        beta_(queue, std::vector<double>(idx(in.groups), in.plan.beta_min)),
        begins_(queue, std::vector<std::uint32_t>(idx(in.groups), 1u)),
        opens_(queue, std::vector<std::uint32_t>(idx(in.groups), 9u)),
        weight_(queue, std::vector<std::uint64_t>(in.energy.size(), 4711)),
        parts_(queue, in.groups * PopulationStep::parts_of(in.replicas)),
        arrivals_(queue, std::vector<std::uint32_t>(in.at_once ? 2 : 0)),
        ends_(queue, std::vector<PopulationEnd>(idx(in.groups * PopulationStep::kept_ends))),
        records_(queue, std::vector<PopulationRecord>(idx(in.max_records))),
        history_(queue, std::vector<PopulationHistory>(1)),
        totals_(queue, std::vector<ResampleTotals>(idx(in.groups), ResampleTotals{1, 2, 3, 4})),
        control_(upload_control(queue, in.control)) {}

  void tick() { queue_.launch(kernel()); }
  void open() {
    PopulationStep opening = kernel();
    opening.opening = true;
    opening.opens = opens_.view();
    queue_.launch(opening);
  }
  std::vector<std::uint32_t> opens() const { return opens_.download(); }
  Outputs outputs() const {
    return {populations_.download(),    beta_.download(), begins_.download(),
            weight_.download(),         ends_.download(), records_.download(),
            history_.download().front()};
  }

 private:
  PopulationStep kernel() {
    PopulationStep kernel;
    kernel.energy = energy_.view();
    kernel.populations = populations_.view();
    kernel.choice = choice_.view();
    kernel.beta = beta_.view();
    kernel.begins = begins_.view();
    kernel.weight = weight_.view();
    kernel.parts = parts_.view();
    kernel.arrivals = arrivals_.view();
    kernel.ends = ends_.view();
    kernel.records = records_.view();
    kernel.history = history_.view();
    kernel.totals = totals_.view();
    kernel.group_size = in_.replicas;
    kernel.plan = in_.plan;
    kernel.control = control_.data();
    kernel.sweeps_per_tick = in_.sweeps_per_tick;
    kernel.inverse_scale = in_.inverse_scale;
    return kernel;
  }
  static Population begun(const Inputs& in) {
    Population p;
    p.beta = in.plan.beta_min;
    return p;
  }

  Queue& queue_;
  const Inputs& in_;
  DeviceArray<double> energy_;
  DeviceArray<Population> populations_;
  DeviceArray<PopulationChoice> choice_;
  DeviceArray<double> beta_;
  DeviceArray<std::uint32_t> begins_, opens_;
  DeviceArray<std::uint64_t> weight_;
  DeviceArray<PopulationStep::Part> parts_;
  DeviceArray<std::uint32_t> arrivals_;
  DeviceArray<PopulationEnd> ends_;
  DeviceArray<PopulationRecord> records_;
  DeviceArray<PopulationHistory> history_;
  DeviceArray<ResampleTotals> totals_;
  DeviceArray<RunControl> control_;
};

inline void expect_same(const Outputs& a, const Outputs& b) {
  EXPECT_EQ(bits_of(a.beta), bits_of(b.beta));
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.begins, b.begins);
  for (std::size_t g = 0; g < a.populations.size(); ++g) {
    const Population &p = a.populations[g], &q = b.populations[g];
    EXPECT_EQ(bits_of({p.beta, p.log_z, p.lowest, p.mean}),
              bits_of({q.beta, q.log_z, q.lowest, q.mean}));
    EXPECT_EQ(bits_of({p.log_finite}), bits_of({q.log_finite}));
    EXPECT_EQ(p.finite, q.finite);
    EXPECT_EQ(p.steps, q.steps);
  }
}

/// With one launch and with one for each part of a pass.
inline Outputs run(Queue& queue, const Inputs& in, int ticks = 1) {
  DevicePopulations populations(queue, in);
  Inputs in_parts = in;
  in_parts.at_once = false;
  DevicePopulations parts(queue, in_parts);
  for (int tick = 0; tick < ticks; ++tick) {
    populations.tick();
    parts.tick();
  }
  expect_same(populations.outputs(), parts.outputs());
  return populations.outputs();
}

/// Effective fraction of the weights exp(-step (E - least)) of the finite energies of a batch.
inline double overlap_of(const Inputs& in, double step) {
  double sum = 0, squares = 0, n = 0, least = infinity;
  const auto each = [&](auto&& action) {
    for (const double e : in.energy) {
      if (std::isfinite(e)) action(e);
    }
  };
  each([&](double e) { least = std::min(least, e); });
  each([&](double e) {
    const double w = std::exp(-step * in.inverse_scale * (e - least));
    sum += w, squares += w * w, n += 1;
  });
  return sum * sum / (n * squares);
}

}  // namespace kiln::test::population_step
