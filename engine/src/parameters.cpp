// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

void require_size(std::size_t size, int wanted, const char* what) {
  if (size == static_cast<std::size_t>(wanted)) return;
  throw InvalidArgument("parameters.size",
                        std::string(what) + " has " + std::to_string(size) + " numbers",
                        std::to_string(wanted));
}

void constrain_all(const ParameterLayout& layout, const double* point, double* values) {
  for (int b = 0; b < layout.blocks; ++b) {
    const ParameterLayout::Block& block = layout.block[b];
    block.transform.constrain(point + block.point, values + block.value);
  }
}

}  // namespace

Parameters& Parameters::real(const std::string& name, int count) {
  return add(name, {TransformKind::real, count});
}
Parameters& Parameters::positive(const std::string& name, int count) {
  return add(name, {TransformKind::positive, count});
}
Parameters& Parameters::interval(const std::string& name, double lower, double upper, int count) {
  if (!(std::isfinite(lower) && std::isfinite(upper) && lower < upper)) {
    throw InvalidArgument(
        "parameters.bounds",
        "the bounds of parameter '" + name + "' are not finite numbers in ascending order",
        "interval(name, lower, upper) with lower < upper");
  }
  return add(name, {TransformKind::interval, count, lower, upper});
}
Parameters& Parameters::ordered(const std::string& name, int count) {
  return add(name, {TransformKind::ordered, count});
}
Parameters& Parameters::simplex(const std::string& name, int count) {
  return add(name, {TransformKind::simplex, count});
}

Parameters& Parameters::add(const std::string& name, const Transform& transform) {
  if (name.empty()) throw InvalidArgument("parameters.name", "a parameter has an empty name");
  if (std::ranges::find(block_names_, name) != block_names_.end()) {
    throw InvalidArgument("parameters.name", "two parameters have the name '" + name + "'");
  }
  const int least = transform.by_element() ? 1 : 2;
  if (transform.size < least) {
    throw InvalidArgument(
        "parameters.count",
        "parameter '" + name + "' cannot have " + std::to_string(transform.size) + " values",
        std::to_string(least) + " or more");
  }
  if (layout_.blocks == ParameterLayout::capacity) {
    throw InvalidArgument("parameters.blocks",
                          "parameter '" + name + "' exceeds the maximum of " +
                              std::to_string(ParameterLayout::capacity) + " parameters of a model",
                          "combine values of one kind in a block: real(name, count)");
  }
  layout_.block[layout_.blocks++] = {transform, layout_.dimension, layout_.values};
  layout_.dimension += transform.free();
  layout_.values += transform.size;
  block_names_.push_back(name);
  return *this;
}

std::vector<std::string> Parameters::names() const {
  std::vector<std::string> all;
  for (std::size_t b = 0; b < block_names_.size(); ++b) {
    const int size = layout_.block[b].transform.size;
    if (size == 1) all.push_back(block_names_[b]);
    for (int i = 1; size > 1 && i <= size; ++i) {
      all.push_back(block_names_[b] + "[" + std::to_string(i) + "]");
    }
  }
  return all;
}

std::vector<double> Parameters::constrain(std::span<const double> point) const {
  require_size(point.size(), dimension(), "the unconstrained point");
  std::vector<double> all(static_cast<std::size_t>(values()));
  constrain_all(layout_, point.data(), all.data());
  return all;
}

std::vector<double> Parameters::unconstrain(std::span<const double> given) const {
  require_size(given.size(), values(), "the list of parameter values");
  std::vector<double> point(static_cast<std::size_t>(dimension()));
  for (int b = 0; b < layout_.blocks; ++b) {
    const ParameterLayout::Block& block = layout_.block[b];
    block.transform.unconstrain(given.data() + block.value, point.data() + block.point);
  }
  return point;
}

Quantities Parameters::quantities() const {
  return {names(), [layout = layout_](std::span<const double> point, std::span<double> all) {
            constrain_all(layout, point.data(), all.data());
          }};
}

}  // namespace kiln
