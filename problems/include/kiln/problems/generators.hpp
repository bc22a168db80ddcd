// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problems/graph.hpp"
#include "kiln/problems/model.hpp"
#include "kiln/problems/pairwise.hpp"

namespace kiln::problems {

/// Maximum number of edges, terms, couplings or vertices that a generator builds: 1 GiB of edges,
/// and the arrays made from them.
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
/// @param a, b  the sides
/// @param seed  any integer; only its value modulo 2^31 counts.
/// @throws InvalidArgument `problem.size` if a side is below 3, where neighbours would coincide, or
///   if there are more than max_generated_edges edges.
KILN_API Graph torus_pm1(std::int32_t a, std::int32_t b, std::int64_t seed);

/// Random graph with all weights 1 and `density_percent` of the n (n - 1) / 2 possible edges,
/// rounded to the nearest number, half up. random_graph(800, 6, 8001) is G1.
///
/// @param n  vertices
/// @param density_percent  0 to 100.
/// @param seed  any integer; only its value modulo 2^31 counts.
/// @throws InvalidArgument `problem.size` if n is below 1 or there are more than
///   max_generated_edges vertices or edges; `problem.value` if the density is outside its range.
/// @par Cost  Edges are drawn until enough different ones are found: O(m) for sparse graphs and
///   O(m log m) for m edges near density 100.
KILN_API Graph random_graph(std::int32_t n, double density_percent, std::int64_t seed);

/// Complete graph with weights +1 and -1 from one stream: for u ascending and v *descending* from
/// n - 1 to u + 1, the weight is 2 uniform(2) - 1.
///
/// @param n  vertices
/// @param seed  any integer; only its value modulo 2^31 counts.
/// @throws InvalidArgument `problem.size` if n is below 1 or there are more than
///   max_generated_edges edges (n above 11585).
KILN_API Graph complete_pm1(std::int32_t n, std::int64_t seed);

/// The Max-Cut instance K2000, also called WK2000_1: complete_pm1(2000, 20001). Best known cut
/// 33337.
KILN_API Graph k2000();

/// Sherrington-Kirkpatrick spin glass without field: a complete graph of couplings +1 and -1, those
/// of complete_pm1(n, seed). The couplings are not divided by sqrt(n), so that all energies are
/// integers; the least energy is near -0.763 n^1.5 for large n.
///
/// @throws InvalidArgument as complete_pm1().
/// @par Source  D. Sherrington and S. Kirkpatrick, Phys. Rev. Lett. 35 (1975) 1792.
KILN_API Ising sherrington_kirkpatrick(std::int32_t n, std::int64_t seed);

/// Edwards-Anderson spin glass without field: standard normal couplings between the neighbours of
/// torus_pm1(a, b, seed). Each coupling takes 31 bits, so its size is below 6.3. The least energy
/// is near -1.315 a b for large sides.
///
/// @throws InvalidArgument as torus_pm1().
/// @par Source  S. F. Edwards and P. W. Anderson, J. Phys. F 5 (1975) 965.
KILN_API Ising edwards_anderson(std::int32_t a, std::int32_t b, std::int64_t seed);

/// The queen graph of a board of side x side squares: square (row, column) has the number row side
/// + column, and squares are joined that share a row, a column or a diagonal. queen_graph(8) is
/// queen8_8 of the DIMACS collection. It needs 7 colours at side 7 and 9 at side 8.
///
/// @throws InvalidArgument `problem.size` if side is below 1 or there are more than
///   max_generated_edges edges (side above 343).
KILN_API Graph queen_graph(std::int32_t side);

/// The Mycielski graph without triangles that needs order + 1 colours: an edge, to which the
/// construction is applied order - 1 times. mycielski_graph(3) is myciel3 of the DIMACS collection:
/// 11 vertices, 20 edges, 4 colours.
///
/// @throws InvalidArgument `problem.size` if order is not 2 .. 16.
/// @par Source  J. Mycielski, Colloquium Mathematicum 3 (1955) 161.
KILN_API Graph mycielski_graph(std::int32_t order);

/// Potts glass of q values on a torus without fields: the graph and signs of torus_pm1() as
/// couplings.
///
/// @throws InvalidArgument `problem.size` if q is not 2 .. 127, and as torus_pm1().
KILN_API Potts potts_torus(std::int32_t a, std::int32_t b, std::int32_t q, std::int64_t seed);

/// Random binary quadratic programme to maximise: sum q_ii x_i + sum over i<j of 2 q_ij x_i x_j
/// with integers q in -100 .. 100. palubeckis(3000, 50, 31000) is the published p3000.1. The
/// density test uses single precision, as in the original; programs that use double precision build
/// other instances under five of the 21 published names.
///
/// @param n  variables
/// @param density_percent  0 to 100, of the pairs i < j; rounded to single precision.
/// @param seed  1 to 2147483646.
/// @return the function in canonical form: linear q_ii, quadratic 2 q_ij where that is not 0.
/// @throws InvalidArgument `problem.size` if n is below 1 or there are more than
///   max_generated_edges pairs (n above 11585); `problem.value` if density or seed is outside its
///   range.
/// @par Source  G. Palubeckis, Annals of Operations Research 131 (2004) 259.
KILN_API Qubo palubeckis(std::int32_t n, double density_percent, std::int64_t seed);

/// One of the 21 published instances `p3000.1` .. `p7000.3`, maximised.
/// @throws InvalidArgument `problem.unknown` with the nearest name.
KILN_API Qubo palubeckis(std::string_view name);

/// The names that palubeckis() knows.
KILN_API const std::vector<std::string>& palubeckis_names();

/// The problem that a text such as `gset:G22` denotes.
struct GeneratedProblem {
  std::string name;  ///< as requested: "palubeckis:p3000.1", "k2000"
  std::string spec;  ///< the same with all parameters written out: "palubeckis:3000,50,31000"
  Model model;
  /// The natural sense of the family: cuts are maximised, energies minimised
  Sense sense = Sense::minimize;
};

/// Whether generate() knows a family of this name.
KILN_API bool is_generated(std::string_view family);

/// The data of an instance of a family with a generator: `coloring`, `gset`, `k2000`, ...
///
/// @param family  the text before the colon
/// @param parameters  the text after the colon; docs/problems/generators.md has the forms.
/// @throws InvalidArgument `problem.unknown` for other families, `problem.parameters` for a text
///   of another form, and as the generators do.
KILN_API GeneratedProblem generate(std::string_view family, std::string_view parameters);

}  // namespace kiln::problems
