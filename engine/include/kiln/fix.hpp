// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/function_ref.hpp"

namespace kiln {

/// What a step of a fix asks for; in parentheses what its argument is. All but `text` touch what a
/// program has words of its own for: options of a run, of its budget and of its schedule.
enum class FixCode : std::uint8_t {
  text,                    ///< (a sentence) do what it says, which holds for every program
  use_device,              ///< (name) run on that device
  use_another_gpu,         ///< run on another CUDA device
  set_replicas,            ///< (number) take that many replicas
  fewer_replicas,          ///< take fewer replicas than now
  more_replicas,           ///< take more replicas than now
  longer_time_limit,       ///< give the run more time
  initial_states,          ///< (what one of them should be) give initial states
  feasible_initial_state,  ///< give an initial state that meets the constraints
  choose_schedule,         ///< (member of ScheduleEntry) choose a schedule for which it is true
  drop_need,               ///< (member of Needs) let the schedule do without it
  drop_requirement,        ///< (ability) let the schedule do without it
  keep_sense,              ///< (sense, or "any") do not ask for it: the problem has no such end
  list_names,              ///< ("schedule", "problem") look up the names in the registry
};

/// One step: a code with its argument.
struct KILN_API FixStep {
  FixCode code = FixCode::text;
  std::string argument = {};

  /// In terms of the C++ interface: `RunOptions::replicas = 256`.
  std::string sentence() const;
};

/// What mends an error: one step, or several of which one is enough.
///
/// The library knows no program's options, so that a step which touches one is a code. sentence()
/// words it for callers of the C++ interface; a program words it for its own users with worded().
class KILN_API Fix {
 public:
  /// No fix is known.
  Fix() = default;
  /// A sentence that names no option of a program. Nothing if it is empty.
  Fix(std::string text);  // NOLINT(google-explicit-constructor)
  Fix(const char* text);  // NOLINT(google-explicit-constructor)

  static Fix use_device(std::string device);
  static Fix use_another_gpu();
  static Fix set_replicas(std::int64_t replicas);
  static Fix fewer_replicas();
  static Fix more_replicas();
  static Fix longer_time_limit();
  static Fix initial_states(std::string one_of_them);
  static Fix feasible_initial_state();
  static Fix choose_schedule(std::string member);
  static Fix drop_need(std::string member);
  static Fix drop_requirement(std::string ability);
  static Fix keep_sense(std::string sense);
  static Fix list_names(std::string kind);

  /// This, or another way.
  Fix or_else(const Fix& other) const;

  bool empty() const noexcept { return steps_.empty(); }
  const std::vector<FixStep>& steps() const noexcept { return steps_; }

  /// All steps in terms of the C++ interface.
  std::string sentence() const;
  /// Each step in the words of a program: "A", "A, or B", "A, B, or C". `words` is not asked about
  /// texts.
  std::string worded(FunctionRef<std::string(const FixStep&)> words) const;

 private:
  explicit Fix(FixStep step);

  std::vector<FixStep> steps_;
};

}  // namespace kiln
