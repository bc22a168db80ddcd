// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/problem.hpp"
#include "kiln/registry.hpp"

namespace kiln::test {

/// The example of a schedule, "gset:G22" or "k2000".
inline Problem example_of(const ScheduleEntry& entry, const Registry& registry) {
  const std::size_t colon = entry.example.find(':');
  const ProblemEntry& family = registry.problem(entry.example.substr(0, colon));
  return family.make(colon == std::string::npos ? "" : entry.example.substr(colon + 1));
}

}  // namespace kiln::test
