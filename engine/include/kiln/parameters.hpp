// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kiln/device/constrained.hpp"
#include "kiln/export.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// The parameters of a model with their constraints, in the order in which its density reads them.
/// Sampling works in unconstrained coordinates; results are in the model's units.
///
///     Parameters parameters;
///     parameters.real("mu").positive("tau").simplex("share", 3);
///     // the density reads 5 values: mu, tau, share[1], share[2], share[3]
///
/// Each adds one block of `count` values and gives the list back.
/// @throws InvalidArgument for an empty name or one that is there already, a count below 1 (below
/// 2 for ordered and simplex), bounds that are not finite and in order, or more than
/// ParameterLayout::capacity blocks.
class KILN_API Parameters {
 public:
  Parameters& real(const std::string& name, int count = 1);
  Parameters& positive(const std::string& name, int count = 1);
  Parameters& interval(const std::string& name, double lower, double upper, int count = 1);
  Parameters& ordered(const std::string& name, int count);
  Parameters& simplex(const std::string& name, int count);

  /// Number of sampled coordinates and of values that the density reads.
  int dimension() const noexcept { return layout_.dimension; }
  int values() const noexcept { return layout_.values; }
  const ParameterLayout& layout() const noexcept { return layout_; }

  /// "mu", "share[1]", ...: one per value.
  std::vector<std::string> names() const;
  /// Maps a point to its values, and values to their point; both throw InvalidArgument for another
  /// size.
  std::vector<double> constrain(std::span<const double> point) const;
  std::vector<double> unconstrain(std::span<const double> values) const;
  /// The quantities that sampling reports: the values.
  Quantities quantities() const;

 private:
  Parameters& add(const std::string& name, const Transform& transform);
  std::vector<std::string> block_names_;
  ParameterLayout layout_;
};

}  // namespace kiln
