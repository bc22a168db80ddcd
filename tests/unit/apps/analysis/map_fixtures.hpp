// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kiln/information/information_map.hpp"

// Maps with values that a test chooses.
namespace kiln::test {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// A link with surrogates.
inline InformationLink tested_link(std::int32_t source, std::int32_t target, std::int32_t lag,
                                   double value, bool significant) {
  InformationLink link;
  link.source = source;
  link.target = target;
  link.lag = lag;
  link.estimate.value = value;
  link.estimate.spread = 0.0125;
  link.estimate.points = 1998;
  link.estimate.k = 4;
  link.estimate.surrogate_mean = 0.01;
  link.estimate.surrogate_deviation = 0.005;
  link.estimate.effective = value - 0.01;
  link.estimate.p_value = significant ? 1.0 / 201 : 0.25;
  link.q_value = significant ? 0.0149 : 0.5;
  link.significant = significant;
  return link;
}

/// A link without surrogates.
inline InformationLink plain_link(std::int32_t source, std::int32_t target, double value) {
  InformationLink link;
  link.source = source;
  link.target = target;
  link.estimate.value = value;
  link.estimate.points = 2000;
  return link;
}

inline InformationMap map_of(InformationMeasure measure, std::vector<std::string> names,
                             std::vector<InformationLink> links, std::int64_t surrogates) {
  InformationMap map;
  map.measure = measure;
  map.names = std::move(names);
  map.links = std::move(links);
  map.rows = 2000;
  map.surrogates = surrogates;
  return map;
}

/// Three series of which the first drives the second, and the second the third.
inline InformationMap chain_map() {
  return map_of(InformationMeasure::transfer_entropy, {"x", "y", "z"},
                {tested_link(1, 0, 1, 0.0112, false), tested_link(2, 0, 1, 0.0087, false),
                 tested_link(0, 1, 1, 0.1446, true), tested_link(2, 1, 1, 0.0093, false),
                 tested_link(0, 2, 1, 0.0131, false), tested_link(1, 2, 1, 0.2346, true)},
                200);
}

/// Each ordered pair of `n` columns; those whose number leaves a small remainder are significant.
inline InformationMap dense_map(std::int32_t n, std::int32_t every, const std::string& prefix) {
  InformationMap map = map_of(InformationMeasure::transfer_entropy, {}, {}, 200);
  for (std::int32_t i = 0; i < n; ++i) map.names.push_back(prefix + std::to_string(i));
  std::uint32_t state = 12345;
  for (std::int32_t target = 0; target < n; ++target) {
    for (std::int32_t source = 0; source < n; ++source) {
      if (source == target) continue;
      state = state * 1664525u + 1013904223u;
      const bool significant = (state >> 16) % static_cast<std::uint32_t>(every) == 0;
      const double value = significant ? 0.05 + 0.3 * (state >> 8) / 16777216.0 : 0.02;
      map.links.push_back(tested_link(source, target, 1, value, significant));
    }
  }
  return map;
}

/// What names of columns may be made of.
inline std::vector<std::string> hostile_names() {
  return {"</svg></style><script>alert(1)</script>",
          "quote\" and 'apostrophe', comma; & ampersand",
          "line\nfeed\r\ttab",
          "\x1b[31mred\x1b[0m \x07\xe2\x80\xae\xff\xc3",
          std::string(10'000, 'n'),
          "=1+1",
          "",
          "\xe5\xb9\xb3\xe5\x9d\x87\xe6\xb8\xa9\xe5\xba\xa6"};
}

/// A map of all hostile names.
inline InformationMap hostile_map() {
  InformationMap map = dense_map(8, 3, "");
  map.names = hostile_names();
  map.links[5].estimate.status = InformationStatus::unbounded;
  map.links[5].estimate.value = map.links[5].estimate.effective = infinite;
  map.notes = {"column '</script><script>alert(1)</script>\x1b[2J' is text\n: left out"};
  return map;
}

}  // namespace kiln::test
