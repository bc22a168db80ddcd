// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/density.hpp"
#include "kiln/device/transforms.hpp"

namespace kiln {

/// The positions and constraints of the parameters of a model. Made by kiln::Parameters.
struct ParameterLayout {
  static constexpr int capacity = 16;

  struct Block {
    Transform transform;
    int point = 0;  ///< first coordinate
    int value = 0;  ///< first value
  };
  Block block[capacity];
  int blocks = 0;
  int dimension = 0;  ///< coordinates of all blocks, unconstrained
  int values = 0;     ///< values of all blocks, constrained
};

/// A density of constrained values, in unconstrained coordinates: subtracts the logarithm of the
/// Jacobian from base. `fixed` is the number of coordinates if the compiler knows it, else 0.
template <class Density, int fixed = 0>
struct Constrained {
  static constexpr int fixed_dimension = fixed;

  Density density;  ///< of layout.values dimensions
  ParameterLayout layout;

  KILN_HD int dimension() const { return layout.dimension; }
  KILN_HD int workspace() const { return 2 * layout.values + density.workspace(); }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double* y = at.work;
    double* gy = y + layout.values;
    const double log_jacobian = team.sum(constrain(team, at.x, y));
    team.sync();
    const DensityPoint inside{y, at.weights, wants_gradient(want) ? gy : nullptr,
                              gy + layout.values};
    EnergyParts e = density.template evaluate<want>(team, inside);
    if constexpr (wants_gradient(want)) pull_back(team, at, y, gy);
    team.sync();  // the next call writes y
    e.base -= log_jacobian;
    return e;
  }

 private:
  /// This thread's part of the logarithm of the Jacobian.
  template <class Team>
  KILN_HD double constrain(const Team& team, const double* x, double* y) const {
    double log_jacobian = 0;
    for (int b = 0; b < layout.blocks; ++b) {
      const ParameterLayout::Block& block = layout.block[b];
      const Transform& t = block.transform;
      if (t.by_element()) {
        for (int i = team.rank(); i < t.size; i += team.size()) {
          log_jacobian += t.constrain_element(x[block.point + i], y[block.value + i]);
        }
      } else if (team.rank() == b % team.size()) {
        log_jacobian += t.constrain(x + block.point, y + block.value);
      }
    }
    return log_jacobian;
  }
  template <class Team>
  KILN_HD void pull_back(const Team& team, const DensityPoint& at, const double* y,
                         const double* gy) const {
    const double weight = -at.weights.base;
    for (int b = 0; b < layout.blocks; ++b) {
      const ParameterLayout::Block& block = layout.block[b];
      const Transform& t = block.transform;
      const int from = block.point, to = block.value;
      if (t.by_element()) {
        for (int i = team.rank(); i < t.size; i += team.size()) {
          at.gradient[from + i] =
              t.pull_back_element(at.x[from + i], y[to + i], gy[to + i], weight);
        }
      } else if (team.rank() == b % team.size()) {
        t.pull_back(at.x + from, y + to, gy + to, weight, at.gradient + from);
      }
    }
  }
};

}  // namespace kiln
