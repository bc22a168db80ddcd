// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pool.hpp"

#include <algorithm>
#include <limits>

#include "kiln/kernels/fronts/crowding_distance.hpp"
#include "kiln/kernels/fronts/epsilon_boxes.hpp"
#include "kiln/kernels/fronts/mark_duplicates.hpp"
#include "kiln/kernels/fronts/nondominated_ranks.hpp"
#include "kiln/kernels/fronts/select_survivors.hpp"
#include "kiln/kernels/run/gather_states.hpp"
#include "kiln/kernels/run/state_values.hpp"

#include "shared/arrays.hpp"

namespace kiln {

std::vector<StateBlock> make_states(AllocateContext& run, const std::string& name,
                                    std::int64_t slots) {
  const std::int64_t padded = (slots + 31) / 32 * 32;
  std::vector<StateBlock> blocks;
  ReplicaBatch& batch = run.batch();
  for (int b = 0; b < batch.n_blocks(); ++b) {
    StateBlock block = batch.state(b);
    const Block& of_space = batch.space().blocks()[static_cast<std::size_t>(b)];
    const auto bytes = static_cast<std::int64_t>(block_bytes(of_space, block.layout, padded));
    block.slots = padded;
    const std::string of_block = name + "." + std::to_string(b);
    block.data = run.scratch_zeros<std::byte>(of_block, bytes).data;
    run.require_saved<std::byte>(of_block, [block](std::vector<std::byte> saved) {
      StateBlock host = block;
      host.data = saved.data();
      return are_states(host, host.slots, EmptySlots::allowed);
    });
    blocks.push_back(block);
  }
  return blocks;
}

std::vector<StateBlock> states_of(ReplicaBatch& batch) {
  std::vector<StateBlock> blocks;
  for (int b = 0; b < batch.n_blocks(); ++b) blocks.push_back(batch.state(b));
  return blocks;
}

ObjectivePoints Pool::points() const {
  return {{value.data, value.rows, value.columns, value.stride}, violation, groups()};
}

void Pool::allocate(AllocateContext& run, const std::vector<double>& epsilon) {
  const std::int64_t n = columns();
  const std::int64_t slots = (std::max(islands * residents, islands * newcomers) + 31) / 32 * 32;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  value = {run.scratch("pool.value", filled(objectives * n, nan)).data, objectives, n, n};
  violation = run.scratch("pool.violation", filled(n, nan));
  rank = run.scratch("pool.rank", filled(n, NondominatedRanks::no_front));
  score = run.scratch_zeros<double>("pool.score", n);
  source = run.scratch("pool.source", filled<std::int32_t>(slots, -1));
  run.require_saved_between<std::int32_t>("pool.rank", 0, NondominatedRanks::no_front);
  run.require_saved_between<std::int32_t>("pool.source", -1, n - 1);
  if (!epsilon.empty()) {
    epsilon_ = run.scratch("pool.epsilon", epsilon);
    box_ = {run.scratch_zeros<double>("pool.box", objectives * n).data, objectives, n, n};
  }
  const std::int64_t bytes =
      std::max({NondominatedRanks::scratch_bytes(groups(), n, objectives),
                CrowdingDistance::scratch_bytes(groups(), n),
                MarkDuplicates::scratch_bytes(groups()), SelectSurvivors::scratch_bytes(groups())});
  scratch_ = run.scratch_zeros<std::byte>("pool.scratch", bytes);
}

void Pool::evaluate(WorkContext& run, const std::vector<StateBlock>& states,
                    const PointColumns& columns, View2<double> constraint) const {
  ObjectivesArgs args;
  args.state = states;
  args.replicas = run.batch().replicas();
  args.columns = columns;
  args.value = value;
  args.violation = violation;
  args.not_finite = run.batch().not_finite();
  args.constraint = constraint;
  args.control = run.control();
  run.objective<VectorValued>().evaluate_objectives(args, run.queue());
}

// What dominance is judged by: the points, or the boxes that they lie in.
ObjectivePoints Pool::compared(RunContext& run) const {
  ObjectivePoints all = points();
  if (!epsilon_) return all;
  EpsilonBoxes boxes;
  boxes.value = all.value;
  boxes.epsilon = epsilon_;
  boxes.box = box_;
  boxes.control = run.control();
  run.queue().launch(boxes);
  all.value = {box_.data, box_.rows, box_.columns, box_.stride};
  return all;
}

void Pool::rank_points(RunContext& run) const {
  NondominatedRanks ranks;
  ranks.points = compared(run);
  ranks.rank = rank;
  ranks.scratch = scratch_;
  ranks.control = run.control();
  run.queue().launch(ranks);
  MarkDuplicates marks;
  marks.points = ranks.points;
  marks.rank = rank;
  marks.scratch = scratch_;
  marks.control = run.control();
  run.queue().launch(marks);
}

void Pool::crowd(RunContext& run) const {
  CrowdingDistance kernel;
  kernel.value = points().value;
  kernel.groups = groups();
  kernel.rank = rank;
  kernel.distance = score;
  kernel.scratch = scratch_;
  kernel.control = run.control();
  run.queue().launch(kernel);
}

void Pool::select(RunContext& run) const {
  SelectSurvivors kernel;
  kernel.groups = groups();
  kernel.residents = residents;
  kernel.value = value;
  kernel.violation = violation;
  kernel.rank = rank;
  kernel.score = score;
  kernel.source = source;
  if (counts_accepted) kernel.accepted = run.batch().accepted();
  kernel.scratch = scratch_;
  kernel.control = run.control();
  run.queue().launch(kernel);
}

void move_states(RunContext& run, const std::vector<StateBlock>& from,
                 const std::vector<StateBlock>& to, View1<const std::int32_t> source) {
  for (std::size_t b = 0; b < from.size(); ++b) {
    run.queue().launch(GatherStates{
        from[b], to[b], {source.data, std::min(source.size, to[b].slots)}, {}, {}, run.control()});
  }
}

}  // namespace kiln
