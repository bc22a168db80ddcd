// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// The largest dimension of sobol_directions(): primitive polynomials up to degree 15.
inline constexpr int max_sobol_dimension = 3667;

/// Direction numbers of Sobol's sequence, [dimension][32]: bit 31 of a number is the first binary
/// digit. Coordinate k of point i is the exclusive or of the numbers of row k at the set bits of i,
/// as a binary fraction.
///
/// Row 0 is the radical inverse; row k uses the k-th primitive polynomial over GF(2), by degree,
/// then by value. Its free initial numbers are the best of several random ones: the first 32 rows
/// together have Sobol's property A, and the quality parameters t of projections on pairs with rows
/// before (all of them up to row 64, the nearest 24 beyond) are small. Rows do not depend on the
/// number of dimensions. They are computed once and cached: milliseconds for 20, a tenth of a
/// second for 100, seconds for all.
///
/// @throws InvalidArgument unless 1 <= dimension <= max_sobol_dimension
/// @par Source  Sobol, USSR Comput. Math. Math. Phys. 7 (1967) 86 and 16 (1976) 236; Bratley, Fox,
/// ACM Trans. Math. Softw. 14 (1988) 88; projections: Joe, Kuo, SIAM J. Sci. Comput. 30 (2008)
/// 2635.
KILN_API std::vector<std::uint32_t> sobol_directions(int dimension);

}  // namespace kiln
