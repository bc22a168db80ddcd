// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/fronts/front.hpp"

namespace kiln::cli {

/// What a picture of a front shows.
struct FrontPlot {
  std::string title;
  std::vector<std::string> names;  ///< [objectives], at least two
  std::vector<bool> maximized;     ///< [objectives], shown as -value; empty: none
  Points points;                   ///< [point][objective], all minimised
  Points reference;                ///< a front to compare with, likewise; may be empty
};

/// The picture as an SVG text, the same for the same front: a scatter plot for two objectives, one
/// for each pair of three or four, parallel coordinates for more. The compromise, named `knee` or
/// `solution`, and the point that is best in each objective are marked (compromise_point() and
/// extreme_points() of indicators.hpp), in scatter plots with their names. Points with a NaN or
/// beyond +-1e300 are left out and counted.
/// @throws InvalidArgument `front.dimension` for fewer than two objectives, or where points, names
/// and `maximized` do not have the same number.
std::string front_svg(const FrontPlot& plot);

}  // namespace kiln::cli
