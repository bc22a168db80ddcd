// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kiln/problem.hpp"
#include "kiln/result.hpp"

namespace kiln::cli {

/// The result in the folder of a run that is to continue. A limit may have ended the run behind its
/// last checkpoint, by a descent or within a tick: the continuation takes another path from there,
/// and must not replace what was found by something worse.
class FormerResult {
 public:
  /// Nothing if the folder has no result.json that can be read.
  static std::optional<FormerResult> read(const std::string& folder);

  /// Whether the run ended, by a limit or by itself; false for one that was killed.
  bool is_finished() const noexcept { return !stop_.empty() && stop_ != "unfinished"; }
  const std::string& stop() const noexcept { return stop_; }
  bool has_draws() const noexcept { return has_draws_; }
  /// Whether kiln resume gave the run other limits.
  bool is_extended() const noexcept { return is_extended_; }
  /// Steps of each replica, those behind the last checkpoint included.
  std::int64_t steps() const noexcept { return steps_; }
  /// In the unit of the run's work limits; 0 if the file does not say.
  double work() const noexcept { return work_; }

  /// Reads the solution and recomputes its value, where Kiln can: problems of one value that are no
  /// programs or tables. A file that was edited counts as none.
  void find_best(const Problem& problem);
  /// Gives a result the former solution if that is better, and says so.
  void improve(Result& result, const Problem& problem) const;

 private:
  struct Best {
    State state;
    double value = 0;
  };
  std::string folder_, stop_;
  std::int64_t steps_ = 0;
  double work_ = 0;
  bool has_draws_ = false, is_extended_ = false;
  std::optional<Best> best_;
};

}  // namespace kiln::cli
