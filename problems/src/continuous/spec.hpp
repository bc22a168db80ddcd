// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::problems {

/// The text after the colon of a continuous family: NAME, or NAME-D, or NAME-D,NUMBER, or
/// NAME-D,LOW,HIGH.
struct Spec {
  std::string name;
  std::optional<int> dimension;
  std::optional<double> number;
  std::optional<std::pair<double, double>> box;  ///< LOW and HIGH
};

/// How many dimensions a name may have, and whether a number follows them.
struct SpecForm {
  std::string_view name;
  std::string_view sentence;
  int least = 1;
  int most = 1 << 20;
  int standard = 0;  ///< without -D; 0: has to be given
  /// The name of the number after a comma, "" without one.
  std::string_view number = {};
  bool boxed = false;  ///< whether a box may follow, the same for every variable
};

/// Splits and judges a spec; `dimension` is there afterwards.
/// @throws InvalidArgument `problem.unknown` with the nearest name, `problem.parameters`, or
/// `problem.size`.
Spec parse_spec(std::string_view family, std::string_view text, const std::vector<SpecForm>& forms);

}  // namespace kiln::problems
