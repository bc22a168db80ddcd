// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kiln/objectives/gradient_check.hpp"
#include "kiln/problem.hpp"

namespace kiln::cli {

/// What `kiln check` finds of a problem that is given by name: nothing of a file can be wrong, but
/// its gradient can.
struct ProblemFindings {
  std::string name;
  std::string kind;  ///< the family: "function", "posterior", "maxcut"
  std::vector<std::pair<std::string, std::string>> sizes;
  std::vector<std::string> notes;  ///< what is doubtful about its data
  std::string aim;                 ///< "minimise value"
  std::string value_name;
  Sense sense = Sense::minimize;
  std::string fingerprint;  ///< of its data, "" if there are none
  std::int64_t dimension = 0;
  int constraints = 0;  ///< beside one value
  std::uint64_t seed = 1;
  std::optional<GradientCheckAtStarts> gradient;  ///< nothing where there is none to check

  bool ok() const { return !gradient || gradient->worst.agrees(); }
};

/// Holds the gradient of a problem, if it has one, against its energy at random starts.
/// @throws as check_gradient() for an objective.
ProblemFindings examine_problem(const Problem& problem, int starts, std::uint64_t seed);

std::string text_of(const ProblemFindings& findings);
nlohmann::ordered_json json_of(const ProblemFindings& findings);

/// @throws SelfCheckError `gradient.wrong` unless the findings are ok.
void refuse_unless_ok(const ProblemFindings& findings);

}  // namespace kiln::cli
