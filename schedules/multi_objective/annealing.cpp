// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "annealing.hpp"

#include <algorithm>
#include <limits>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/dominance_acceptance.hpp"
#include "kiln/kernels/reference_frame.hpp"

#include "shared/arrays.hpp"

namespace kiln {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t stages = 100;

View2<double> matrix(View1<double> values, std::int64_t rows, std::int64_t columns) {
  return {values.data, rows, columns, columns};
}
View2<const double> read_only(const View2<double>& view) {
  return {view.data, view.rows, view.columns, view.stride};
}

}  // namespace

void ArchiveAnnealing::allocate(Run& run, const Pool& pool, const MultiObjectiveOptions& options,
                                std::int64_t steps) {
  options_ = options;
  steps_ = steps;
  const std::int64_t m = pool.objectives, slots = run.batch().slots();
  archive_ = make_states(run, "archive", pool.islands * pool.residents);
  value_ = matrix(run.scratch_zeros<double>("annealing.value", m * slots), m, slots);
  violation_ = run.scratch_zeros<double>("annealing.violation", slots);
  source_ = run.scratch("annealing.source", filled<std::int32_t>(slots, -1));
  member_ = run.scratch("annealing.member", filled<std::int32_t>(slots, -1));
  ideal_ =
      matrix(run.scratch("annealing.ideal", filled(m * pool.islands, infinity)), m, pool.islands);
  nadir_ = matrix(run.scratch("annealing.nadir", filled(m * pool.islands, 1.0)), m, pool.islands);
  extreme_ = matrix(run.scratch_zeros<double>("annealing.extreme", m * m * pool.islands), m * m,
                    pool.islands);
}

void ArchiveAnnealing::archive_newcomers(Run& run, const Pool& pool,
                                         const std::vector<StateBlock>& from) const {
  pool.rank_points(run);
  pool.crowd(run);
  pool.select(run);
  move_states(run, from, archive_, pool.source);
  // Before the next proposals are evaluated: values and ranks belong together now.
  ReferenceFrame frame;
  frame.value = pool.points().value;
  frame.groups = pool.groups();
  frame.rank = pool.rank;
  frame.ideal = ideal_;
  frame.nadir = nadir_;
  frame.extreme = extreme_;
  frame.intercepts = false;
  frame.control = run.control();
  run.queue().launch(frame);
}

void ArchiveAnnealing::begin(Run& run, const Pool& pool,
                             const std::vector<StateBlock>& proposals) const {
  archive_newcomers(run, pool, proposals);
}

void ArchiveAnnealing::step(Run& run, const Pool& pool,
                            const std::vector<StateBlock>& proposals) const {
  DominanceAcceptance kernel;
  kernel.replicas = run.batch().replicas();
  kernel.group_size = run.batch().group_size();
  kernel.value = value_;
  kernel.violation = violation_;
  kernel.points = pool.points();
  kernel.rank = pool.rank;
  kernel.members = pool.residents;
  kernel.ideal = read_only(ideal_);
  kernel.nadir = read_only(nadir_);
  kernel.first = options_.temperature;
  kernel.log_factor =
      exact::log(options_.temperature_end / options_.temperature) / static_cast<double>(stages);
  kernel.log_spread = exact::log(options_.temperature_spread);
  kernel.stage = std::max<std::int64_t>(1, steps_ / stages);
  kernel.source = source_;
  kernel.member = member_;
  kernel.accepted = run.batch().accepted();
  kernel.names = run.batch().names();
  kernel.control = run.control();
  run.queue().launch(kernel);

  const std::vector<StateBlock> present = states_of(run.batch());
  move_states(run, proposals, present, source_);
  move_states(run, archive_, present, member_);
  archive_newcomers(run, pool, proposals);
}

}  // namespace kiln
