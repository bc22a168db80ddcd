// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "front/svg_canvas.hpp"

namespace kiln::cli {

/// The range of values that an axis shows.
struct AxisRange {
  double low = 0, high = 1;
  bool logarithmic = false;
  double margin = 0.04;  ///< by which share the range is widened at each end
};

/// A linear or logarithmic axis laid along a line of pixels. A logarithmic axis over less than a
/// factor of four is linear: it would have no two ticks at powers of ten.
class AxisScale {
 public:
  /// @param range  finite; above 0 where it is logarithmic
  /// @param first, last  the pixels of both ends
  AxisScale(const AxisRange& range, double first, double last, int about_ticks);

  double operator()(double value) const;
  const std::vector<double>& ticks() const;
  std::string label(double tick) const;

 private:
  void choose_decades(double low, double high, int about_ticks);

  bool logarithmic_;
  PlotScale linear_;  // of the logarithms, where the axis is logarithmic
  std::vector<double> decades_;
};

/// The places of a line that can be told apart: of those in one column of pixels the first, the
/// last, the lowest and the highest, in their order. So the largest deviation in each column stays.
/// @param places  in the order of x
std::vector<Pixel> thinned_to_pixels(const std::vector<Pixel>& places);

}  // namespace kiln::cli
