// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "generators/generator_limits.hpp"

#include <algorithm>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"

#include "canonical.hpp"
#include "generators/palubeckis.hpp"
#include "generators/rudy_builders.hpp"

namespace kiln::problems::detail {

namespace {

void check_count(std::string_view what, std::int64_t n, std::string_view things) {
  if (n <= max_generated_edges) return;
  throw InvalidArgument("problem.size", std::string(what) + " would have " + std::to_string(n) +
                                            " " + std::string(things) + "; expected at most " +
                                            std::to_string(max_generated_edges));
}

void check_at_least_one(std::string_view what, std::int32_t n, std::string_view things) {
  if (n >= 1) return;
  throw InvalidArgument(
      "problem.size",
      std::string(what) + " cannot have " + std::to_string(n) + " " + std::string(things),
      "at least 1");
}

void check_density(double density_percent) {
  if (density_percent >= 0.0 && density_percent <= 100.0) return;  // NaN is not
  std::string number;
  append_number(number, density_percent);
  throw InvalidArgument("problem.value",
                        "the density of " + number + " per cent is outside 0 .. 100");
}

std::int64_t pairs_of(std::int32_t n) { return std::int64_t{n} * (n - 1) / 2; }

}  // namespace

void check_gset_name(std::string_view name) {
  if (std::ranges::find(gset_names(), name) != gset_names().end()) return;
  const std::string nearest = nearest_name(name, gset_names());
  throw InvalidArgument("problem.unknown",
                        "unknown G-set instance '" + std::string(name) + "'" +
                            (nearest.empty() ? "" : "; the nearest is '" + nearest + "'"),
                        "G1 .. G67, G70, G72, G77 or G81",
                        nearest.empty() ? "kiln describe gset" : "gset:" + nearest);
}

void check_torus(std::int32_t a, std::int32_t b) {
  if (a < 3 || b < 3) {
    throw InvalidArgument("problem.size",
                          "in a torus of " + std::to_string(a) + " by " + std::to_string(b) +
                              " vertices, a vertex has fewer than four different neighbours",
                          "two side lengths of at least 3");
  }
  check_count("the graph", 2 * std::int64_t{a} * b, "edges");
}

void check_random_graph(std::int32_t n, double density_percent) {
  check_at_least_one("a random graph", n, "vertices");
  check_density(density_percent);
  check_count("the graph", n, "vertices");
  check_count("the graph", random_edge_count(n, density_percent), "edges");
}

void check_complete(std::string_view what, std::int32_t n) {
  check_at_least_one(what, n, "vertices");
  check_count(what, pairs_of(n), "edges");
}

void check_queen(std::int32_t side) {
  check_at_least_one("a board", side, "rows");
  check_count("a board", side, "rows");
  // Rows and columns, and two kinds of diagonals: n (n - 1) (5 n - 1) / 3, in double as it is huge.
  const double n = side;
  const double m = n * (n - 1) * (5 * n - 1) / 3;
  check_count("the graph", static_cast<std::int64_t>(std::min(m, 1e18)), "edges");
}

void check_mycielski(std::int32_t order) {
  constexpr std::int32_t most = 16;  // 3^k edges and more: the next has 10^8
  if (order >= 2 && order <= most) return;
  throw InvalidArgument(
      "problem.size", "Kiln does not generate a Mycielski graph of order " + std::to_string(order),
      "2 .. " + std::to_string(most));
}

void check_values(std::int32_t q, std::int32_t most) {
  if (q >= 2 && q <= most) return;
  throw InvalidArgument("problem.size", std::to_string(q) + " values or colours",
                        "2 .. " + std::to_string(most));
}

void check_palubeckis(std::int32_t n, double density_percent, std::int64_t seed) {
  constexpr std::string_view what = "a Palubeckis instance";
  check_at_least_one(what, n, "variables");
  check_density(density_percent);
  // Of all pairs, also at low density: each of them costs a draw.
  check_count(what, pairs_of(n), "pairs of variables");
  if (seed < 1 || seed >= palubeckis_modulus) {
    throw InvalidArgument("problem.value", "the seed " + std::to_string(seed) +
                                               " is outside 1 .. " +
                                               std::to_string(palubeckis_modulus - 1));
  }
}

}  // namespace kiln::problems::detail
