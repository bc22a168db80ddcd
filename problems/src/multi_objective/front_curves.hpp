// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kiln/fronts/front.hpp"

// What fronts are made of. The header is not installed.
namespace kiln::problems::detail {

/// A stretch of a parameter that runs over [0, 1].
struct Piece {
  double begin = 0;
  double end = 1;
};

/// The stretches of [0, 1] where a function that first falls is less than at every place before,
/// with their ends to 1e-15 and beginnings to 1e-12. At the ends its slope is 0, or the end is 1;
/// at the beginnings of all but the first it is just less than at the end of the one before.
std::vector<Piece> new_minima(const std::function<double(double)>& function,
                              const std::function<double(double)>& slope);

/// A point in the space of objectives by its parameter.
using Curve = std::function<std::vector<double>(double)>;

/// A function that gives about so many points at equal distances along the pieces of a curve; the
/// ends of each piece are always among them.
std::function<Points(std::int64_t count)> along_curve(std::vector<Piece> pieces, Curve curve);

/// reference_directions(), and at least the corners.
Points directions(int objectives, std::int64_t count);

void scale(std::vector<double>& point, double factor);
void to_unit_sphere(std::vector<double>& point);

/// directions() on the unit sphere.
Points sphere(int objectives, std::int64_t count);

}  // namespace kiln::problems::detail
