// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "annealing.hpp"

#include <algorithm>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/fronts/dominance_acceptance.hpp"

#include "shared/arrays.hpp"

namespace kiln {
namespace {

constexpr std::int64_t stages = 100;

}  // namespace

void ArchiveAnnealing::allocate(AllocateContext& run, const Pool& pool, const AmosaOptions& options,
                                std::int64_t steps) {
  options_ = options;
  steps_ = steps;
  const std::int64_t m = pool.objectives, slots = run.batch().slots();
  archive_ = make_states(run, "archive", pool.islands * pool.residents);
  value_ = make_matrix(run, "annealing.value", m, slots, 0);
  violation_ = run.scratch_zeros<double>("annealing.violation", slots);
  source_ = run.scratch("annealing.source", filled<std::int32_t>(slots, -1));
  member_ = run.scratch("annealing.member", filled<std::int32_t>(slots, -1));
  const std::int64_t places = (pool.islands * pool.residents + 31) / 32 * 32;
  run.require_saved_between<std::int32_t>("annealing.source", -1, std::max(places, slots) - 1);
  run.require_saved_between<std::int32_t>("annealing.member", -1, places - 1);
  frame_.allocate(run, pool);
}

void ArchiveAnnealing::archive_newcomers(WorkContext& run, const Pool& pool,
                                         const std::vector<StateBlock>& from) const {
  pool.rank_points(run);
  pool.crowd(run);
  pool.select(run);
  move_states(run, from, archive_, pool.source);
  // Before the next proposals are evaluated: values and ranks belong together now.
  frame_.update(run, pool, false);
}

void ArchiveAnnealing::begin(InitializeContext& run, const Pool& pool,
                             const std::vector<StateBlock>& states) const {
  const std::int64_t size = run.batch().group_size();
  ObjectivesArgs args;
  args.state = states;
  args.replicas = run.batch().replicas();
  args.columns = {size, size, 0};
  args.value = value_;
  args.violation = violation_;
  args.control = run.control();
  run.objective<VectorValued>().evaluate_objectives(args, run.queue());
  archive_newcomers(run, pool, states);
}

void ArchiveAnnealing::step(WorkContext& run, const Pool& pool,
                            const std::vector<StateBlock>& proposals) const {
  DominanceAcceptance kernel;
  kernel.replicas = run.batch().replicas();
  kernel.group_size = run.batch().group_size();
  kernel.value = value_;
  kernel.violation = violation_;
  kernel.points = pool.points();
  kernel.rank = pool.rank;
  kernel.members = pool.residents;
  kernel.ideal = read_only(frame_.ideal);
  kernel.nadir = read_only(frame_.nadir);
  kernel.first = options_.temperature;
  kernel.log_factor =
      exact::log(options_.temperature_end / options_.temperature) / static_cast<double>(stages);
  kernel.log_spread = exact::log(options_.temperature_spread);
  kernel.stage = std::max<std::int64_t>(1, steps_ / stages);
  kernel.source = source_;
  kernel.member = member_;
  kernel.accepted = run.batch().accepted();
  kernel.draw_ids = run.batch().draw_ids();
  kernel.control = run.control();
  run.queue().launch(kernel);

  const std::vector<StateBlock> present = states_of(run.batch());
  move_states(run, proposals, present, source_);
  move_states(run, archive_, present, member_);
  archive_newcomers(run, pool, proposals);
}

}  // namespace kiln
