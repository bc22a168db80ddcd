// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front_volume.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/fronts/front_points.hpp"
#include "kiln/kernels/fronts/front_progress.hpp"
#include "kiln/kernels/fronts/hypervolume.hpp"
#include "kiln/kernels/run/gather_states.hpp"

#include "shared/arrays.hpp"

namespace kiln {
namespace {

// Sampled volumes are looked at while a run goes on; its result takes sixteen times as many.
constexpr std::uint64_t samples_on_the_way = 1u << 16;

// Ticks from one volume to the next, so that it stays a small part of the work of a generation.
std::uint64_t interval_for(std::int64_t points, std::int64_t objectives) {
  const auto n = static_cast<double>(points);
  const double simple_steps = objectives == 2 ? n * std::log2(n + 2) : n * n;
  const double sampled = objectives > Hypervolume::max_exact ? n * samples_on_the_way : 0;
  return 1 + static_cast<std::uint64_t>((simple_steps + sampled) / 1e5);
}

}  // namespace

void FrontVolume::allocate(AllocateContext& run, const Pool& pool) {
  const std::int64_t n = pool.islands * pool.residents, m = pool.objectives;
  const std::int64_t padded = (n + 31) / 32 * 32;
  front_ = {run.scratch_zeros<double>("progress.front", m * padded).data, m, n, padded};
  best_front_ = {run.scratch_zeros<double>("progress.best_front", m * padded).data, m, n, padded};
  ideal_ = run.scratch_zeros<double>("progress.ideal", m);
  nadir_ = run.scratch_zeros<double>("progress.nadir", m);
  reference_ = run.scratch_zeros<double>("progress.reference", m);
  volume_ = run.scratch_zeros<double>("progress.volume", 1);
  half_width_ = run.scratch_zeros<double>("progress.half_width", 1);
  gate_ = run.scratch_zeros<RunControl>("progress.gate", 1);
  scratch_ = run.scratch_zeros<std::byte>("progress.scratch",
                                          Hypervolume::scratch_bytes({1, n, {}}, n, m));
  best_ = make_states(run, "progress.best", n);
  every_ = interval_for(n, m);
}

void FrontVolume::measure_in(RunContext& run, const FrontBox& box) {
  const auto put = [&](View1<double> view, const std::vector<double>& values) {
    run.queue().upload(view.data, values.data(), values.size() * sizeof(double));
  };
  put(ideal_, box.ideal);
  put(nadir_, box.nadir);
  put(reference_, box.reference);
}

void FrontVolume::follow(WorkContext& run, const Pool& pool,
                         const std::vector<StateBlock>& residents) const {
  FrontProgress progress;
  progress.volume = volume_;
  progress.control = run.control();
  progress.gate = gate_.data;
  progress.every = every_;
  progress.open = true;
  run.queue().launch(progress);

  FrontPoints points;
  points.value = pool.points().value;
  points.violation = pool.violation;
  points.rank = pool.rank;
  points.columns = pool.resident_columns();
  points.ideal = ideal_;
  points.nadir = nadir_;
  points.front = front_;
  points.control = gate_.data;
  run.queue().launch(points);

  Hypervolume volume;
  volume.value = {front_.data, front_.rows, front_.columns, front_.stride};
  volume.groups = {1, front_.columns, {}};
  volume.reference = reference_;
  volume.volume = volume_;
  volume.half_width = half_width_;
  volume.scratch = scratch_;
  volume.samples = samples_on_the_way;
  volume.key = run.batch().seed();
  volume.control = gate_.data;
  run.queue().launch(volume);

  progress.open = false;
  run.queue().launch(progress);
  // The gate is open where the volume is the largest so far.
  const auto keep = [&](const StateBlock& from, const StateBlock& to) {
    run.queue().launch(GatherStates{from, to, {}, {}, {}, gate_.data});
  };
  keep(block_of(front_), block_of(best_front_));
  for (std::size_t b = 0; b < residents.size(); ++b) keep(residents[b], best_[b]);
}

StateBlock FrontVolume::block_of(const View2<double>& points) const {
  StateBlock block;
  block.data = points.data;
  block.layout = Layout::f64;
  block.kind = BlockKind::real;
  block.variables = points.rows;
  block.slots = points.stride;
  return block;
}

FrontVolume::Best FrontVolume::best(ReportContext& run) const {
  const RunControl control = run.read(View1<RunControl>(run.control(), 1)).front();
  if (control.best_key == ~0ull) return {std::numeric_limits<double>::quiet_NaN(), {}};
  const std::vector<double> first = run.read(View1<double>(best_front_.data, best_front_.columns));
  std::vector<std::int64_t> members;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (std::isfinite(first[i])) members.push_back(static_cast<std::int64_t>(i));
  }
  return {-exact::from_order_key(control.best_key), read_states_of(run.queue(), best_, members)};
}

}  // namespace kiln
