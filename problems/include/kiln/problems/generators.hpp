// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problems/graph.hpp"

namespace kiln::problems {

/// Most edges that a generator builds: about 1 GiB for the edges and another for their lists.
inline constexpr std::int64_t max_generated_edges = std::int64_t{1} << 26;

/// One of the 71 Max-Cut graphs of the G-set, `G1` .. `G67`, `G70`, `G72`, `G77`, `G81`, equal edge
/// by edge and sign by sign to the published file, in canonical form.
///
/// @throws InvalidArgument `problem.unknown` if there is no such instance; the error names the
///   nearest one.
/// @par Cost  at most some ten milliseconds.
/// @par Source  The graphs are output of the generator rudy by G. Rinaldi, which draws from the
///   Stanford GraphBase (D. E. Knuth, ACM Press 1993); the set goes back to C. Helmberg and
///   F. Rendl, SIAM J. Optim. 10 (2000) 673.
KILN_API Graph gset(std::string_view name);

/// The names that gset() knows, in the order of their numbers.
KILN_API const std::vector<std::string>& gset_names();

/// Torus of a times b vertices with weights +1 and -1 drawn from `seed`; vertex (x, y) has the
/// number x b + y and each vertex has four neighbours. torus_pm1(100, 8, 8001) is G11. The sides
/// are not interchangeable: the signs follow the numbering.
///
/// @param seed  any integer; only its value modulo 2^31 counts.
/// @throws InvalidArgument `problem.size` if a side is below 3, where neighbours would coincide, or
///   if there are more than max_generated_edges edges.
KILN_API Graph torus_pm1(std::int32_t a, std::int32_t b, std::int64_t seed);

/// Random graph with all weights 1 and `density_percent` of the n (n - 1) / 2 possible edges,
/// rounded to the nearest number, half up. random_graph(800, 6, 8001) is G1.
///
/// @param density_percent  0 to 100.
/// @param seed  any integer; only its value modulo 2^31 counts.
/// @throws InvalidArgument `problem.size` if n is below 1 or there are more than
///   max_generated_edges edges; `problem.value` if the density is outside its range.
/// @par Cost  Edges are drawn until enough different ones are found: O(m) for sparse graphs and
///   O(m log m) for m edges near density 100.
KILN_API Graph random_graph(std::int32_t n, double density_percent, std::int64_t seed);

}  // namespace kiln::problems
