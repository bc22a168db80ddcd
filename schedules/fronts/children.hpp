// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/run_context.hpp"

#include "parent_selection.hpp"
#include "pool.hpp"

namespace kiln {

/// How children are made of their parents; see EvolutionaryOptions.
struct VariationOptions {
  bool has_selection = true;  ///< whether choose_parents() is called; else each replica has a child
  std::string crossover = "automatic";
  double crossover_probability = 0.9, crossover_index = 20;
  double differential_scale = 0.5, differential_rate = 1;
  double mutation_probability = 0, mutation_index = 20;
  std::int64_t migration_interval = 0;  ///< generations; 0: islands stay apart
  std::int64_t migrants = 0;
};

/// The children of a generation: crossed and mutated from the present states.
class Children {
 public:
  /// In Schedule::allocate.
  void allocate(AllocateContext& run, const VariationOptions& options);
  /// Chooses the parents of all children, and the members that migrate.
  void choose_parents(TickContext& run, const Pool& pool, const ParentSelection& selection,
                      const VariationOptions& options) const;
  /// Makes one child for each replica.
  void make(TickContext& run, const VariationOptions& options) const;
  const std::vector<StateBlock>& states() const { return states_; }

 private:
  std::vector<StateBlock> states_;
  View2<std::int32_t> parents_, work_;
  View1<std::int32_t> immigrants_;
};

}  // namespace kiln
