// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/function_ref.hpp"

namespace kiln {

/// The action of a fix step; its argument in parentheses. All but `text` concern options that each
/// program names differently: options of a run, of its budget and of its schedule.
enum class FixCode : std::uint8_t {
  text,                    ///< (a sentence) follow the sentence, which holds for every program
  use_device,              ///< (name) run on that device
  use_another_gpu,         ///< run on another CUDA device
  use_executor,            ///< (name) enqueue ticks by that executor
  set_replicas,            ///< (number) use that many replicas
  fewer_replicas,          ///< use fewer replicas than now
  more_replicas,           ///< use more replicas than now
  longer_time_limit,       ///< give the run more time
  work_limit,              ///< (number) use that work limit
  initial_states,          ///< (description of one state) give initial states
  feasible_initial_state,  ///< give an initial state that meets the constraints
  choose_schedule,         ///< (member of ScheduleEntry) choose a schedule for which it is true
  drop_need,               ///< (member of Needs) let the schedule do without it
  drop_requirement,        ///< (ability) let the schedule do without it
  keep_sense,              ///< (sense, or "any") do not request a sense that the problem lacks
  list_names,              ///< ("schedule", "problem") look up the names in the registry
};

/// One step: a code with its argument.
struct KILN_API FixStep {
  FixCode code = FixCode::text;
  std::string argument = {};

  /// In terms of the C++ interface: `RunOptions::replicas = 256`.
  std::string sentence() const;
};

/// A remedy for an error: one step, or several alternatives.
///
/// The library does not know the options of programs, so a step that concerns an option is a code.
/// sentence() words it for callers of the C++ interface; a program words it for its users with
/// worded().
class KILN_API Fix {
 public:
  /// No fix is known.
  Fix() = default;
  /// A sentence that names no option of a program. No step if it is empty.
  Fix(std::string text);  // NOLINT(google-explicit-constructor)
  Fix(const char* text);  // NOLINT(google-explicit-constructor)

  static Fix use_device(std::string device);
  static Fix use_executor(std::string_view executor);
  static Fix use_another_gpu();
  static Fix set_replicas(std::int64_t replicas);
  static Fix fewer_replicas();
  static Fix more_replicas();
  static Fix longer_time_limit();
  static Fix work_limit(std::int64_t work);
  static Fix initial_states(std::string one_of_them);
  static Fix feasible_initial_state();
  static Fix choose_schedule(std::string member);
  static Fix drop_need(std::string member);
  static Fix drop_requirement(std::string ability);
  static Fix keep_sense(std::string sense);
  static Fix list_names(std::string kind);

  /// This fix, or alternatively `other`.
  Fix or_else(const Fix& other) const;

  bool empty() const noexcept { return steps_.empty(); }
  const std::vector<FixStep>& steps() const noexcept { return steps_; }

  /// All steps in terms of the C++ interface.
  std::string sentence() const;
  /// Each step in the words of a program: "A", "A, or B", "A, B, or C". `words` is not called for
  /// texts.
  std::string worded(FunctionRef<std::string(const FixStep&)> words) const;

 private:
  explicit Fix(FixStep step);

  std::vector<FixStep> steps_;
};

}  // namespace kiln
