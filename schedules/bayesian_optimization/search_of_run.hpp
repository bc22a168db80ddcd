// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/result.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/bayesian_optimization.hpp"

#include "search.hpp"

namespace kiln {

/// What a run of the schedule holds.
struct BayesianOptimization::Search {
  /// One evaluation in the order of the run; values are stored ones.
  struct Seen {
    std::size_t study = 0;
    std::int64_t batch = 0;  // 0: it was known before
    Point point;
    double value = 0;
    std::vector<double> constraints;

    bool good() const {
      const auto finite = [](double x) { return std::isfinite(x); };
      return finite(value) && std::ranges::all_of(constraints, finite);
    }
    bool feasible() const {
      const bool met = std::ranges::all_of(constraints, [](double g) { return g <= 0; });
      return met && std::isfinite(value);
    }
  };

  // A queue of its own: models outlive the run that they were made for.
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<BayesianSearch> search;
  View1<double> value;        // [slots], as evaluated
  View2<double> constraint;   // [constraints][slots]
  View1<std::uint32_t> only;  // [batch], which points of a batch that is shorter are evaluated
  std::vector<std::size_t> studies;
  std::vector<Seen> history;  // in order
  std::int64_t batches = 0;   // that were evaluated
  bool exhausted = false;     // no study has points left
  bool confirmed = false;     // the answer was known before
  std::size_t modelled = 0;   // of what was known before

  /// What to evaluate next, at most so many points of each study; given up when the tick is.
  std::vector<std::vector<Trial>> suggest(TickContext& run, std::int64_t count);
  void evaluate(TickContext& run, const std::vector<std::vector<Trial>>& trials);
  /// Which points of a batch are evaluated: all, or those that some study has in a shorter one.
  View1<const std::uint32_t> wanted_of(TickContext& run,
                                       const std::vector<std::vector<Trial>>& trials) const;
  /// Gives slots without a point of their own the energy of the point that they hold.
  void fill(const std::vector<std::vector<Trial>>& trials, std::vector<double>& energies) const;
  /// The best point that was known before, once more where the run has none as good: what others
  /// say of it is no claim of the run. False where there is none.
  bool confirm(TickContext& run);
  /// Values at the slots as they were evaluated, those of infeasible points as energies that are
  /// never the best.
  void note(TickContext& run, const std::vector<std::vector<Trial>>& trials,
            std::vector<double>& energies);
  Evaluations evaluations(const Problem& problem) const;
  /// The best value of the first study after each sweep, past evaluations included.
  std::vector<double> best_by_sweep(const Problem& problem) const;
  /// The best feasible evaluation of the run, or of what was known before; null if there is none.
  const Seen* best_seen(bool past) const;
  double best_of(bool past) const;  // its value; infinity: there is none
};

}  // namespace kiln
