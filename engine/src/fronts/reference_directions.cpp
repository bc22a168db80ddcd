// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"

namespace kiln {
namespace {

constexpr std::int64_t max_directions = 10'000'000;
/// From so many objectives on directions come in two layers.
constexpr int first_layered = 8;

/// C(divisions + objectives - 1, objectives - 1), or one more than the limit if it is beyond it.
std::int64_t count_directions(int objectives, int divisions) {
  // Multiplying by (larger + i) / i gives a whole number each time, and never less than before.
  const std::int64_t larger = std::max(objectives - 1, divisions);
  const std::int64_t smaller = std::min(objectives - 1, divisions);
  std::int64_t count = 1;
  for (std::int64_t i = 1; i <= smaller; ++i) {
    count = count * (larger + i) / i;
    if (count > max_directions) return max_directions + 1;
  }
  return count;
}

std::int64_t count_layers(int objectives, int divisions) {
  const std::int64_t outer = count_directions(objectives, divisions);
  const bool layered = objectives >= first_layered && divisions > 1;
  return layered ? outer + count_directions(objectives, divisions - 1) : outer;
}

/// Goes to the next vector of whole numbers with the same sum; false after the last one.
bool advance(std::vector<int>& parts) {
  int rest = 0;
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (rest > 0) {
      ++parts[i];
      parts.back() = rest - 1;
      return true;
    }
    rest = parts[i];
    parts[i] = 0;
  }
  return false;
}

}  // namespace

Points das_dennis(int objectives, int divisions) {
  if (objectives < 1 || divisions < 1) {
    throw InvalidArgument("front.directions",
                          std::to_string(objectives) + " objectives and " +
                              std::to_string(divisions) + " divisions give no reference directions",
                          "at least one objective and one division");
  }
  if (count_directions(objectives, divisions) > max_directions) {
    throw InvalidArgument("front.directions",
                          std::to_string(divisions) + " divisions for " +
                              std::to_string(objectives) +
                              " objectives give more than 10,000,000 reference directions",
                          {}, "use fewer divisions");
  }
  std::vector<int> parts(static_cast<std::size_t>(objectives), 0);
  parts.back() = divisions;
  Points directions;
  do {
    std::vector<double>& direction = directions.emplace_back();
    for (const int part : parts) direction.push_back(static_cast<double>(part) / divisions);
  } while (advance(parts));
  return directions;
}

Points reference_directions(int objectives, std::int64_t count) {
  if (objectives < 1 || count < objectives) {
    throw InvalidArgument("front.directions",
                          std::to_string(count) + " directions are too few for " +
                              std::to_string(objectives) + " objectives",
                          "at least one direction for each objective");
  }
  count = std::min(count, max_directions);
  if (objectives == 1) return das_dennis(1, 1);
  int divisions = 1;
  while (count_layers(objectives, divisions + 1) <= count) ++divisions;
  Points directions = das_dennis(objectives, divisions);
  if (objectives < first_layered || divisions == 1) return directions;
  for (std::vector<double>& direction : das_dennis(objectives, divisions - 1)) {
    for (double& x : direction) x = x / 2 + 1.0 / (2.0 * objectives);
    directions.push_back(std::move(direction));
  }
  return directions;
}

}  // namespace kiln
