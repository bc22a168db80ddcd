// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kiln/registry.hpp"
#include "kiln/schedule.hpp"

#include "errors.hpp"
#include "experiments/evaluation_files.hpp"
#include "fuzz.hpp"
#include "memory_file.hpp"
#include "run/initial_states.hpp"

// What a run begins with: states and evaluations that are known.
namespace kiln::test {

inline const Problem& two_reals() {
  static const Problem problem = builtin_registry().problem("function").make("ackley-2");
  return problem;
}

/// Reads states of two reals: they are refused as a ParseError or for their values, or lie within
/// the bounds.
inline void check_initial(const std::string& text) {
  const MemoryFile file(text);
  const Bounds bounds = two_reals().objective->space().blocks().front().bounds(0);
  try {
    const std::vector<State> states = cli::read_initial_states(file.path(), two_reals());
    require(!states.empty(), "states that are read are some");
    for (const State& state : states) {
      const auto& values = std::get<std::vector<double>>(state.at(0));
      require(state.size() == 1 && values.size() == 2, "a state has the shape of the problem");
      for (const double value : values) {
        require(value >= bounds.lower && value <= bounds.upper, "a value lies within its bounds");
      }
    }
  } catch (const ParseError& error) {
    require(error.issues().size() == 1, "an error lists one issue");
  } catch (const InvalidArgument& error) {
    require(error.code() == "state.value", "only values are at fault");
  }
}

/// Reads evaluations at two reals: they are refused as a ParseError, or taken.
inline void check_past(const std::string& text) {
  const MemoryFile file(text);
  static const Registry registry = builtin_registry();
  const std::unique_ptr<Schedule> schedule = registry.schedule("bayesian-optimization").make({});
  try {
    cli::add_past_evaluations(file.path(), two_reals(), *schedule);
  } catch (const ParseError& error) {
    require(!error.issues().empty() && error.issues().size() <= 5 &&
                error.total() >= static_cast<std::int64_t>(error.issues().size()),
            "an error lists one to five issues and counts all");
  }
}

}  // namespace kiln::test
