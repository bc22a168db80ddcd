// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Functors that are compiled into this program, as a user's are: the same energies, transitions and
// sweeps on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "kiln/cuda/device_objective.cuh"
#include "kiln/engine.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/backends.hpp"

namespace kiln::test {
namespace {

struct Banana {  // any number type; a GPU thread per chain
  static constexpr int fixed_dimension = 2;
  template <class T>
  KILN_HD T operator()(const T* x) const {
    return 10 * math::square(x[1] - x[0] * x[0]) + math::square(1 - x[0]) +
           math::log(1 + math::exp(x[0]));
  }
};

struct Bowl {  // a gradient of its own, data on the device; a warp per chain
  KILN_HD double operator()(const double* x, double* gradient) const {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += 0.5 * weight[i] * x[i] * x[i];
      if (gradient != nullptr) gradient[i] = weight[i] * x[i];
    }
    return sum;
  }
  View1<const double> weight;
  int n = 0;
};

struct Counts {  // constrained values, in parts
  static constexpr int fixed_dimension = 4;
  template <class T>
  KILN_HD Parts<T> operator()(const T* v) const {
    return {v[0] - 2 * math::log(v[0]),
            4 * v[0] - 3 * math::log(v[1]) - 2 * math::log(v[2]) - math::log(v[3])};
  }
};

std::vector<Problem> problems() {
  const auto weights = with_data({1, 4, 9, 2, 3}, [](View1<const double> data) {
    return Bowl{data, static_cast<int>(data.size)};
  });
  return {make_problem(make_device_objective("banana", Banana{})),
          make_problem(make_device_objective("bowl", weights, 5)),
          make_device_posterior("counts", Counts{}, Parameters().positive("rate").simplex("w", 3))};
}

struct Outcome {
  std::vector<double> energy, position;
};

constexpr std::int64_t n_chains = 33;

/// Energies of chains in given places, then some transitions, then some sweeps of them.
std::vector<Outcome> move(const Problem& problem, Queue& queue) {
  const Objective& objective = *problem.objective;
  const std::int64_t n = objective.space().variables();
  ReplicaBatch batch(queue, objective.space(), objective.execution().layouts, {n_chains, 1, 5});
  TestRandom random(4);
  std::vector<State> states;
  for (std::int64_t r = 0; r < n_chains; ++r) {
    std::vector<double> x(idx(n));
    for (double& v : x) v = 2 * random.unit() - 1;
    states.push_back({x});
  }
  batch.write_states(states);
  const std::unique_ptr<BoundObjective> bound = objective.bind(queue);
  bound->prepare(batch, queue);
  RunControl at_start;
  const DeviceArray<RunControl> control = upload_control(queue, at_start);
  const DeviceArray<double> beta(queue, std::vector<double>{1}),
      scale(queue, std::vector<double>(idx(n), 1.0));
  HmcTuning tuning;
  tuning.step_size = 0.05;
  tuning.leapfrogs = 4;
  const DeviceArray<HmcTuning> tunings(queue, std::vector<HmcTuning>{tuning});

  std::vector<Outcome> outcomes;
  const auto note = [&] {
    const StateBlock block = batch.state(0);
    std::vector<double> position(idx(n * block.slots));
    queue.download(position.data(), block.as<double>(), position.size() * sizeof(double));
    std::vector<double> energy = batch.read_energies(false);
    energy.resize(idx(n_chains));
    outcomes.push_back({energy, {}});
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t r = 0; r < n_chains; ++r) {
        outcomes.back().position.push_back(position[idx(i * block.slots + r)]);
      }
    }
  };
  bound->as<Evaluates>()->evaluate(EvaluateArgs{batch, batch.energy(), {}, control.data()}, queue);
  note();
  TransitionArgs args{batch, beta.view(), {}, {}, {}, {}};
  args.metric.dimension = static_cast<int>(n);
  args.metric.scale = scale.view();
  args.tuning = tunings.view();
  args.control = control.data();
  for (std::uint32_t step = 0; step < 3; ++step) {
    args.step_offset = step;
    bound->as<HamiltonianMoves>()->hmc_transition(args, queue);
  }
  note();
  args.step_offset = 3;
  bound->as<NoUTurnMoves>()->nuts_transition(args, queue);
  note();
  for (std::uint32_t step = 4; step < 8; ++step) {
    bound->as<Sweeps>()->metropolis_sweep(SweepArgs{batch, beta.view(), control.data(), step},
                                          queue);
  }
  note();
  return outcomes;
}

class DeviceObjective : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DeviceObjective);

TEST_P(DeviceObjective, MovesAsOnTheCpu) {
  for (const Problem& problem : problems()) {
    const std::vector<Outcome> here = move(problem, queue()), there = move(problem, cpu_queue());
    for (std::size_t stage = 0; stage < here.size(); ++stage) {
      SCOPED_TRACE(problem.identity.name + ", stage " + std::to_string(stage));
      for (std::size_t r = 0; r < idx(n_chains); ++r) {
        EXPECT_NEAR(here[stage].energy[r], there[stage].energy[r],
                    1e-9 * (1 + std::abs(there[stage].energy[r])));
      }
      for (std::size_t i = 0; i < here[stage].position.size(); ++i) {
        EXPECT_NEAR(here[stage].position[i], there[stage].position[i], 1e-9);
      }
    }
    EXPECT_NE(here[0].position, here[1].position) << "transitions move";
    EXPECT_NE(here[2].position, here[3].position) << "sweeps move";
  }
}

TEST_P(DeviceObjective, HasTheEnergiesOfItsReference) {
  for (const Problem& problem : problems()) {
    const Outcome start = move(problem, queue()).front();
    const auto reference = problem.objective->reference();
    const std::size_t n = start.position.size() / idx(n_chains);
    for (std::size_t r = 0; r < idx(n_chains); ++r) {
      std::vector<double> x;
      for (std::size_t i = 0; i < n; ++i) x.push_back(start.position[i * idx(n_chains) + r]);
      const std::vector<BlockSpan> spans = {std::span<const double>(x)};
      EXPECT_NEAR(start.energy[r], reference(spans), 1e-12 * (1 + std::abs(start.energy[r])));
    }
  }
}

TEST_P(DeviceObjective, RunsInCapturedTicks) {
  SimulatedAnnealing annealing;
  RunOptions options;
  options.device = to_string(GetParam());
  options.replicas = 64;
  const Result result = Engine(options).run(problems()[1], annealing, {.sweeps = 400});
  EXPECT_TRUE(result.verified);
  EXPECT_LT(result.objective, 1e-3);
  EXPECT_EQ(result.executor.executor != Executor::stream, GetParam() == Device::cuda);
  EXPECT_EQ(result.work.in_ticks.copies, 0u);
  EXPECT_GT(result.work.in_ticks.launches + result.work.in_ticks.graph_launches, 0u);
}

struct Beams {  // two objectives and a constraint, data on the device
  KILN_HD static constexpr int objectives() { return 2; }
  KILN_HD static constexpr int constraints() { return 1; }
  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double* g) const {
    f[0] = f[1] = 0;
    for (int i = 0; i < n; ++i) {
      f[0] += cost[i] * x[i];
      f[1] += 1 / (1 + x[i] * x[i]);
    }
    g[0] = f[0] - 5;
  }
  const double* cost = nullptr;
  int n = 0;
};

TEST_P(DeviceObjective, VectorFunctionsAsOnTheCpu) {
  auto arrays = std::make_shared<FunctorArrays<Beams>>(Beams{nullptr, 4});
  arrays->array(&Beams::cost, std::vector<double>{1, 2, 3, 4});
  const std::shared_ptr<const Objective> objective = make_device_vector_objective<Beams>(
      "beams", Space({{BlockKind::real, 3, 0, 2}, {BlockKind::integer, 1, 0, 9}}), arrays);
  EXPECT_TRUE(objective->execution().cuda);
  ReplicaBatch batch(queue(), objective->space(), objective->execution().layouts, {n_chains, 1, 5});
  TestRandom random(9);
  std::vector<State> states;
  for (std::int64_t r = 0; r < n_chains; ++r) {
    states.push_back({std::vector<double>{random.unit(), random.unit(), random.unit()},
                      std::vector<std::int32_t>{static_cast<std::int32_t>(r % 10)}});
  }
  batch.write_states(states);
  const std::unique_ptr<BoundObjective> bound = objective->bind(queue());
  bound->prepare(batch, queue());
  DeviceArray<double> value(queue(), 2 * n_chains), violation(queue(), n_chains);
  const std::vector<StateBlock> blocks{batch.state(0), batch.state(1)};
  ObjectivesArgs args;
  args.state = blocks;
  args.replicas = n_chains;
  args.columns = {n_chains, n_chains, 0};
  args.value = {value.data(), 2, n_chains, n_chains};
  args.violation = violation.view();
  bound->as<VectorValued>()->evaluate_objectives(args, queue());
  const std::vector<double> got = value.download(), violations = violation.download();
  for (std::size_t r = 0; r < idx(n_chains); ++r) {
    const ObjectiveVector expected = objective->vector_reference()(spans_of(states[r]));
    EXPECT_NEAR(got[r], expected.values[0], 1e-12 * expected.values[0]);
    EXPECT_NEAR(got[idx(n_chains) + r], expected.values[1], 1e-12 * expected.values[1]);
    EXPECT_NEAR(violations[r], expected.violation, 1e-12 * (1 + expected.violation));
  }
}

}  // namespace
}  // namespace kiln::test
