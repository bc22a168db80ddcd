// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "children.hpp"

#include <algorithm>

#include "kiln/kernels/fronts/select_parents.hpp"
#include "kiln/kernels/fronts/variation_operator.hpp"

#include "shared/arrays.hpp"

namespace kiln {
namespace {

VariationRule variation_of(const VariationOptions& o, BlockKind kind) {
  VariationRule rule;
  rule.cross_pair = o.crossover_probability;
  rule.cross_index = o.crossover_index;
  rule.scale = o.differential_scale;
  rule.mutate = o.mutation_probability;
  rule.mutate_index = o.mutation_index;
  const bool numbers = kind == BlockKind::real || kind == BlockKind::integer;
  rule.mutation = numbers ? Mutation::polynomial : Mutation::reset;
  rule.crossover = Crossover::uniform;
  if (kind == BlockKind::permutation) {
    rule.crossover = Crossover::order;
    rule.mutation = Mutation::inversion;
  } else if (numbers && o.crossover == "differential") {
    rule.crossover = Crossover::differential;
    rule.cross_pair = 1;
    rule.cross_variable = o.differential_rate;
  } else if (numbers && o.crossover != "uniform") {
    rule.crossover = Crossover::simulated_binary;
  }
  if (o.crossover == "none") rule.crossover = Crossover::none;
  return rule;
}

}  // namespace

void Children::allocate(AllocateContext& run, const VariationOptions& options) {
  ReplicaBatch& batch = run.batch();
  const std::int64_t slots = batch.slots();
  states_ = make_states(run, "children", batch.replicas());
  const std::int64_t rows = options.crossover == "differential" ? 4 : 2;
  std::vector<std::int32_t> parents = filled<std::int32_t>(rows * slots, -1);
  if (!options.has_selection) {  // each child has one parent
    for (std::int64_t slot = 0; slot < batch.replicas(); ++slot) {
      for (std::int64_t row = 0; row < rows; ++row) {
        parents[static_cast<std::size_t>(row * slots + slot)] = static_cast<std::int32_t>(slot);
      }
    }
  }
  parents_ = {run.scratch("parents", parents).data, rows, slots, slots};
  // A slot has all its parents or, in the padding, none.
  run.require_saved<std::int32_t>("parents", [rows, slots](const std::vector<std::int32_t>& saved) {
    for (std::int64_t i = 0; i < rows * slots; ++i) {
      const std::int32_t parent = saved[static_cast<std::size_t>(i)];
      const std::int32_t first = saved[static_cast<std::size_t>(i % slots)];
      if (parent < -1 || parent >= slots || (parent < 0) != (first < 0)) return false;
    }
    return true;
  });
  if (batch.groups() > 1 && options.migration_interval > 0) {
    immigrants_ = run.scratch("immigrants", filled<std::int32_t>(slots, -1));
    run.require_saved_between<std::int32_t>("immigrants", -1, slots - 1);
  }
  std::int64_t longest = 0;
  for (const Block& block : batch.space().blocks()) {
    if (block.kind == BlockKind::permutation) longest = std::max(longest, block.count);
  }
  work_ = {run.scratch_zeros<std::int32_t>("crossover.work", longest * slots).data, longest, slots,
           slots};
}

void Children::choose_parents(TickContext& run, const Pool& pool, const ParentSelection& selection,
                              const VariationOptions& options) const {
  ReplicaBatch& batch = run.batch();
  SelectParents choose;
  choose.replicas = batch.replicas();
  choose.group_size = batch.group_size();
  choose.columns = pool.resident_columns();
  selection.choose_by(choose, pool);
  choose.parents = parents_;
  choose.immigrants = immigrants_;
  choose.migrate_every = options.migration_interval;
  choose.migrants = options.migrants;
  choose.draw_ids = batch.draw_ids();
  choose.control = run.control();
  run.queue().launch(choose);
}

void Children::make(TickContext& run, const VariationOptions& options) const {
  ReplicaBatch& batch = run.batch();
  std::int64_t first = 0;
  for (int b = 0; b < batch.n_blocks(); ++b) {
    const StateBlock block = batch.state(b);
    VariationOperator vary;
    vary.parent = block;
    vary.child = states_[static_cast<std::size_t>(b)];
    vary.parents = {parents_.data, parents_.rows, parents_.columns, parents_.stride};
    vary.rule = variation_of(options, block.kind);
    if (block.kind == BlockKind::permutation) {
      vary.rule.mutate = std::max(vary.rule.mutate, 0.3);
      vary.work = work_;
    }
    vary.draw_ids = batch.draw_ids();
    vary.first_variable = first;
    vary.all_variables = batch.space().variables();
    vary.control = run.control();
    run.queue().launch(vary);
    first += block.variables;
  }
  if (immigrants_) move_states(run, states_of(batch), states_, immigrants_);
}

}  // namespace kiln
