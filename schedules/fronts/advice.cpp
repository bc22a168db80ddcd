// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace kiln {
namespace {

// A tenth of the range behind the greatest value, in as few digits as stay beyond that.
double reference_behind(double least, double greatest) {
  const double range = greatest - least;
  const double margin = range > 0 ? 0.1 * range : std::max(0.1 * std::abs(greatest), 1e-9);
  const double reference = greatest + margin;
  for (int digits = 4; digits < 17; ++digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, reference);
    const double rounded = std::strtod(text, nullptr);
    if (rounded > greatest + margin / 2 && rounded < reference + margin / 2) return rounded;
  }
  return reference;
}

std::string text_of_reference(double value) {
  char text[32];
  for (int digits = 4; digits < 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) return text;
  }
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace

std::string advice_on_reference(const Front& front) {
  const std::size_t objectives = front.names.size();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> least(objectives, infinite), greatest(objectives, -infinite);
  std::int64_t beyond = 0;
  for (const FrontMember& member : front.members) {
    const std::vector<double> scaled = front.box.scaled(member.values);
    bool below = true;
    for (std::size_t k = 0; k < objectives; ++k) {
      below &= scaled[k] < front.box.reference[k];
      least[k] = std::min(least[k], member.values[k]);
      greatest[k] = std::max(greatest[k], member.values[k]);
    }
    beyond += below ? 0 : 1;
  }
  if (beyond == 0) return {};
  std::string sentence = std::to_string(beyond) + " of " + std::to_string(front.members.size()) +
                         " members of the front lie beyond the reference point and add nothing to "
                         "the hypervolume";
  std::string reference;
  for (std::size_t k = 0; k < objectives; ++k) {
    const double value = reference_behind(least[k], greatest[k]);
    if (!std::isfinite(value)) return sentence;
    reference += (k == 0 ? "" : ",") + text_of_reference(front.shown(k, value));
  }
  return sentence + "; -p reference=" + reference + " is a reference point beyond all members";
}

}  // namespace kiln
