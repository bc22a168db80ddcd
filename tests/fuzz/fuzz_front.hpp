// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/problems/fronts.hpp"

#include "fuzz.hpp"

namespace kiln::test {

/// Reads a front: it is refused as a ParseError, whose message is returned, or gives points of one
/// dimension and of finite values that read back equal.
inline std::string check_front(const std::string& text) {
  std::istringstream in(text);
  Points points;
  try {
    points = problems::read_front(in, "f");
  } catch (const ParseError& error) {
    require(!error.issues().empty() && error.issues().size() <= 5 &&
                error.total() >= static_cast<std::int64_t>(error.issues().size()),
            "an error lists one to five issues and counts all");
    return error.message();
  }
  require(!points.empty() && !points.front().empty(), "a front that is read has points");
  std::stringstream written;
  written.precision(17);
  for (const std::vector<double>& point : points) {
    require(point.size() == points.front().size(), "all points have as many values");
    for (const double value : point) {
      require(std::isfinite(value), "values are finite");
      written << value << ' ';
    }
    written << '\n';
  }
  require(problems::read_front(written, "g") == points, "what is written reads back equal");
  return "accepted";
}

}  // namespace kiln::test
