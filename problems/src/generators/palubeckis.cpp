// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "generators/palubeckis.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"

#include "generators/generator_limits.hpp"

namespace kiln::problems {

namespace {

using detail::PalubeckisSpec;

// clang-format off
constexpr PalubeckisSpec listed[] = {
    {"p3000.1", 3000, 50, 31000},
    {"p3000.2", 3000, 80, 32000},
    {"p3000.3", 3000, 80, 33000},
    {"p3000.4", 3000, 100, 34000},
    {"p3000.5", 3000, 100, 35000},
    {"p4000.1", 4000, 50, 41000},
    {"p4000.2", 4000, 80, 42000},
    {"p4000.3", 4000, 80, 43000},
    {"p4000.4", 4000, 100, 44000},
    {"p4000.5", 4000, 100, 45000},
    {"p5000.1", 5000, 50, 51000},
    {"p5000.2", 5000, 80, 52000},
    {"p5000.3", 5000, 80, 53000},
    {"p5000.4", 5000, 100, 54000},
    {"p5000.5", 5000, 100, 55000},
    {"p6000.1", 6000, 50, 61000},
    {"p6000.2", 6000, 80, 62000},
    {"p6000.3", 6000, 100, 64000},
    {"p7000.1", 7000, 50, 71000},
    {"p7000.2", 7000, 80, 72000},
    {"p7000.3", 7000, 100, 74000},
};
// clang-format on

}  // namespace

PalubeckisSpec detail::named_palubeckis(std::string_view name) {
  const auto* const found = std::ranges::find(listed, name, &PalubeckisSpec::name);
  if (found != std::end(listed)) return *found;
  const std::string nearest = nearest_name(name, palubeckis_names());
  throw InvalidArgument("problem.unknown",
                        "unknown Palubeckis instance '" + std::string(name) + "'" +
                            (nearest.empty() ? "" : "; the nearest is '" + nearest + "'"),
                        "p3000.1 .. p3000.5, p4000.1 .. p4000.5, p5000.1 .. p5000.5, p6000.1 .. "
                        "p6000.3 or p7000.1 .. p7000.3",
                        nearest.empty() ? "kiln describe palubeckis" : "palubeckis:" + nearest);
}

const std::vector<std::string>& palubeckis_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const PalubeckisSpec& instance : listed) all.emplace_back(instance.name);
    return all;
  }();
  return names;
}

Qubo palubeckis(std::int32_t n, double density_percent, std::int64_t seed) {
  detail::check_palubeckis(n, density_percent, seed);
  Qubo qubo{n, std::vector<double>(static_cast<std::size_t>(n)), {}, 0.0};
  const double pairs = static_cast<double>(n) * (n - 1) / 2;
  qubo.quadratic.reserve(static_cast<std::size_t>(pairs * density_percent / 100.0));
  detail::draw_palubeckis(
      {{}, n, density_percent, seed},
      [&](std::int32_t i, double q) { qubo.linear[static_cast<std::size_t>(i)] = q; },
      [&](std::int32_t i, std::int32_t j, double q) {
        if (q != 0.0) qubo.quadratic.push_back({i, j, 2.0 * q});
      });
  return qubo;
}

Qubo palubeckis(std::string_view name) {
  const PalubeckisSpec spec = detail::named_palubeckis(name);
  return palubeckis(spec.n, spec.density_percent, spec.seed);
}

}  // namespace kiln::problems
