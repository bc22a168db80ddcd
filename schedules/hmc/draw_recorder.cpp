// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "draw_recorder.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "kiln/kernels/hamiltonian/nuts_transition.hpp"

namespace kiln::hmc {
namespace {

// Numbers of kept positions: 32 MiB, more than any summary needs.
constexpr std::int64_t max_kept_values = std::int64_t{1} << 22;
constexpr std::int64_t min_kept_chains = 4;
constexpr std::int64_t max_count = std::int64_t{1} << 62;  // of all chains together

double sum_of(const std::vector<std::uint64_t>& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
}

}  // namespace

std::int64_t room_of_draws(std::int64_t dimension) {
  return std::max<std::int64_t>(1, max_kept_values / dimension);
}

Quantities quantities_of(const Problem& problem, std::int64_t dimension) {
  if (problem.posterior && !problem.posterior->quantities.names.empty()) {
    return problem.posterior->quantities;
  }
  Quantities plain;
  for (std::int64_t i = 1; i <= dimension; ++i) {
    plain.names.push_back("x[" + std::to_string(i) + "]");
  }
  plain.compute = [](std::span<const double> point, std::span<double> values) {
    std::copy(point.begin(), point.end(), values.begin());
  };
  return plain;
}

void DrawRecorder::allocate(AllocateContext& run, const RecorderSetting& setting) {
  setting_ = setting;
  dimension_ = run.batch().state(0).variables;
  const std::int64_t chains = setting.pools.members;
  moments_ = {run.scratch_zeros<double>("draws.mean", 2 * dimension_ * chains),
              run.scratch_zeros<double>("draws.square", 2 * dimension_ * chains)};
  gradients_ = run.scratch_zeros<std::uint64_t>("draws.gradients", chains);
  warmup_gradients_ = run.scratch_zeros<std::uint64_t>("draws.warmup_gradients", chains);
  divergences_ = run.scratch_zeros<std::uint64_t>("draws.divergences", chains);
  for (const char* const count :
       {"draws.gradients", "draws.warmup_gradients", "draws.divergences"}) {
    run.require_saved_between<std::uint64_t>(count, 0, max_count / chains);
  }

  trace_ = {};
  const std::int64_t room = room_of_draws(dimension_);
  const std::int64_t few = std::min(chains, min_kept_chains);
  trace_.thin = setting.thin > 0 ? setting.thin : (few * setting.draws + room - 1) / room;
  trace_.capacity = (setting.draws + trace_.thin - 1) / trace_.thin;
  trace_.kept = setting.keep > 0 ? std::min(setting.keep, chains)
                                 : std::clamp(room / trace_.capacity, few, chains);
  // Groups are compared, so of each as many are kept.
  const std::int64_t groups = setting.super_chains;
  if (setting.keep == 0 && groups > 0 && trace_.kept > groups) trace_.kept -= trace_.kept % groups;
  const std::int64_t size = trace_.capacity * trace_.kept;
  trace_.position = run.scratch_zeros<double>("draws.position", size * dimension_);
  trace_.energy = run.scratch_zeros<double>("draws.energy", size);
  trace_.hamiltonian = run.scratch_zeros<double>("draws.hamiltonian", size);
  trace_.acceptance = run.scratch_zeros<double>("draws.acceptance", size);
  trace_.leapfrogs = run.scratch_zeros<std::int32_t>("draws.leapfrogs", size);
  trace_.depth = run.scratch_zeros<std::int32_t>("draws.depth", size);
  trace_.divergent = run.scratch_zeros<std::int32_t>("draws.divergent", size);
  run.require_saved_between<std::int32_t>("draws.leapfrogs", 0, std::int64_t{1} << 30);
  run.require_saved_between<std::int32_t>("draws.depth", 0, NutsTransition::depth_limit);
  run.require_saved_between<std::int32_t>("draws.divergent", 0, 1);
  hamiltonians_ = {run.scratch_zeros<double>("draws.hamiltonian.last", trace_.kept),
                   run.scratch_zeros<double>("draws.hamiltonian.mean", trace_.kept),
                   run.scratch_zeros<double>("draws.hamiltonian.square", trace_.kept),
                   run.scratch_zeros<double>("draws.hamiltonian.steps", trace_.kept)};
}

void DrawRecorder::record(TickContext& run, const TransitionStatistics& statistics,
                          std::uint32_t step_offset) const {
  const StateBlock block = run.batch().state(0);
  RecordDraws kernel;
  kernel.pools = setting_.pools;
  kernel.pool = setting_.pool;
  kernel.warmup = static_cast<std::uint64_t>(setting_.warmup);
  kernel.half = static_cast<std::uint64_t>(setting_.draws / 2);
  kernel.dimension = dimension_;
  kernel.position = {block.as<const double>(), block.variables, block.slots, block.slots};
  kernel.energy = run.batch().energy();
  kernel.statistics = statistics;
  kernel.moments = moments_;
  kernel.trace = trace_;
  kernel.hamiltonians = hamiltonians_;
  kernel.gradients = gradients_;
  kernel.warmup_gradients = warmup_gradients_;
  kernel.divergences = divergences_;
  kernel.control = run.control();
  kernel.step_offset = step_offset;
  run.queue().launch(kernel);
}

std::shared_ptr<Sample> DrawRecorder::collect(ReportContext& run, std::int64_t sweeps,
                                              std::span<const double> known) const {
  auto sample = std::make_shared<Sample>();
  sample->all_chains = setting_.pools.members;
  sample->warmup = std::min(setting_.warmup, sweeps);
  sample->all_draws = std::max<std::int64_t>(0, sweeps - setting_.warmup);
  sample->thin = trace_.thin;
  sample->chains = trace_.kept;
  sample->super_chains = setting_.super_chains;
  sample->draws = std::min(trace_.capacity, (sample->all_draws + trace_.thin - 1) / trace_.thin);
  sample->gradients = sum_of(run.read(gradients_));
  sample->warmup_gradients = sum_of(run.read(warmup_gradients_));
  sample->divergences = divergences(run);
  sample->hamiltonian_steps = run.read(hamiltonians_.steps);
  sample->hamiltonian_squares = run.read(hamiltonians_.square);
  collect_draws(run, *sample, known);
  collect_moments(run, *sample);
  return sample;
}

std::int64_t DrawRecorder::divergences(ReportContext& run) const {
  return static_cast<std::int64_t>(sum_of(run.read(divergences_)));
}

// In blocks of draws: the host holds each draw once, and little beside.
void DrawRecorder::collect_draws(ReportContext& run, Sample& sample,
                                 std::span<const double> known) const {
  constexpr std::int64_t values_of_block = std::int64_t{1} << 20;
  const Quantities quantities = quantities_of(run.problem(), dimension_);
  sample.names = quantities.names;
  const auto size = static_cast<std::size_t>(sample.chains * sample.draws);
  sample.values.resize(size * sample.names.size());
  for (auto* const array : {&sample.log_density, &sample.hamiltonian, &sample.acceptance}) {
    array->resize(size);
  }
  sample.leapfrogs.resize(size);
  sample.depth.resize(size);
  sample.divergent.resize(size);
  const std::int64_t block =
      std::max<std::int64_t>(1, values_of_block / (trace_.kept * dimension_));
  for (std::int64_t begin = 0; begin < sample.draws; begin += block) {
    const std::int64_t end = std::min(begin + block, sample.draws);
    collect_block(run, quantities, begin, end, known, sample);
  }
}

void DrawRecorder::collect_block(ReportContext& run, const Quantities& quantities,
                                 std::int64_t begin, std::int64_t end,
                                 std::span<const double> known, Sample& sample) const {
  const auto read = [&](const auto& array, std::int64_t each) {
    return run.read(View1<const std::remove_pointer_t<decltype(array.data)>>{
        array.data + begin * each, (end - begin) * each});
  };
  const std::int64_t kept = trace_.kept;
  const std::vector<double> position = read(trace_.position, kept * dimension_);
  const std::vector<double> energy = read(trace_.energy, kept),
                            hamiltonian = read(trace_.hamiltonian, kept),
                            acceptance = read(trace_.acceptance, kept);
  const std::vector<std::int32_t> leapfrogs = read(trace_.leapfrogs, kept),
                                  depth = read(trace_.depth, kept),
                                  divergent = read(trace_.divergent, kept);
  std::vector<double> point(static_cast<std::size_t>(dimension_));
  const std::size_t width = sample.names.size();
  for (std::int64_t chain = 0; chain < kept; ++chain) {
    for (std::int64_t draw = begin; draw < end; ++draw) {
      const auto out = static_cast<std::size_t>(chain * sample.draws + draw);
      const std::span<double> values = std::span(sample.values).subspan(out * width, width);
      const std::size_t of_draw = static_cast<std::size_t>(draw * kept + chain) * width;
      if (of_draw + width <= known.size()) {
        std::ranges::copy(known.subspan(of_draw, width), values.begin());
      } else {
        for (std::int64_t i = 0; i < dimension_; ++i) {
          const std::int64_t at = ((draw - begin) * dimension_ + i) * kept + chain;
          point[static_cast<std::size_t>(i)] = position[static_cast<std::size_t>(at)];
        }
        quantities.compute(point, values);
      }
      const auto at = static_cast<std::size_t>((draw - begin) * kept + chain);
      sample.log_density[out] = -energy[at];
      sample.hamiltonian[out] = hamiltonian[at];
      sample.acceptance[out] = acceptance[at];
      sample.leapfrogs[out] = leapfrogs[at];
      sample.depth[out] = depth[at];
      sample.divergent[out] = divergent[at] != 0 ? 1 : 0;
    }
  }
}

// Both halves of a chain joined, then the chains: means and variances by the parallel formulas.
void DrawRecorder::collect_moments(ReportContext& run, Sample& sample) const {
  const std::vector<double> mean = run.read(moments_.mean), square = run.read(moments_.square);
  const std::int64_t chains = setting_.pools.members;
  // Whole draws. NOLINTNEXTLINE(bugprone-integer-division)
  const auto half = static_cast<double>(setting_.draws / 2);
  const double all = static_cast<double>(sample.all_draws);
  const double first = std::min(all, half), second = all - first;
  if (all < 1) return;
  for (std::int64_t i = 0; i < dimension_; ++i) {
    double sum_of_means = 0, squares_of_means = 0, within = 0;
    std::vector<double> means;
    for (std::int64_t c = 0; c < chains; ++c) {
      const auto a = static_cast<std::size_t>(i * chains + c);
      const auto b = a + static_cast<std::size_t>(dimension_ * chains);
      const double gap = second > 0 ? mean[b] - mean[a] : 0;
      means.push_back(first > 0 ? mean[a] + gap * second / all : mean[b]);
      within += square[a] + square[b] + (first > 0 ? gap * gap * first * second / all : 0);
      sum_of_means += means.back();
    }
    const double n = static_cast<double>(chains), centre = sum_of_means / n;
    for (const double m : means) squares_of_means += (m - centre) * (m - centre);
    sample.coordinate_mean.push_back(centre);
    sample.coordinate_variance.push_back((within + all * squares_of_means) /
                                         std::max(1.0, n * all - 1));
    sample.chain_mean_variance.push_back(n > 1 ? squares_of_means / (n - 1) : 0);
  }
}

}  // namespace kiln::hmc
