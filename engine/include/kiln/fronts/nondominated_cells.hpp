// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"

namespace kiln {

/// Disjoint boxes (lower, upper].
struct Cells {
  Points lower;  ///< [cell][objective]; -infinity where a box has no end
  Points upper;  ///< [cell][objective]
};

/// Divides the nondominated region below the reference, where another point would add to the
/// hypervolume, into boxes. No box is empty. A point counts only if it is less than the reference
/// in every objective; without such points there is one box, all below the reference.
///
/// The boxes are slabs along the last objective, each divided likewise by the other objectives of
/// the points below it; boxes that continue from slab to slab are merged. n points have n + 1 cells
/// in two objectives, at most 2 n + 1 in three, and in the order of n^2 in four.
/// @throws InvalidArgument `front.dimension` for points of another length, `front.reference` if a
/// coordinate of the reference is not finite.
/// @par Source  slabs: Couckuyt, Deschrijver, Dhaene, J. Global Optim. 60 (2014) 575.
KILN_API Cells nondominated_cells(const Points& points, const std::vector<double>& reference);

}  // namespace kiln
