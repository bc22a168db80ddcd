// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/ising.hpp"
#include "kiln/problems/qubo.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// A pairwise model in stored units, and how these follow from the coefficients.
///
/// Coefficients become integers where that is possible: exactly by a power of two or the
/// denominator of decimal fractions, else rounded, to decimal fractions in their last digits or to
/// a fixed point. Sums of integers are exact, so energies are updated with every move, and no order
/// of additions matters.
struct StoredModel {
  /// In stored units, without an offset that counts: the given model where it is in these units.
  std::shared_ptr<const Ising> model;
  CoefficientSizes sizes;        ///< of the model
  double scale = 1;              ///< stored units for one unit of energy
  Affine energy_of_stored = {};  ///< with the offset
  bool integers = false;         ///< stored coefficients are integers, without rounding
  double shift = 0;              ///< bound of the change of an energy by rounding
  /// The scale at which the coefficients, decimal fractions, are integers; 0: energies are best
  /// computed from the coefficients as they are.
  double decimal = 0;
  Affine energy_of_whole = {};  ///< of sums of these integers
  std::string note = {};        ///< why coefficients are stored as real numbers; "": they are not
};

/// The energy of an Ising model, or of a graph: then the note speaks of edges.
/// @throws InvalidArgument `problem.value`, which begins with `name`, if sums overflow
KILN_TEST_API StoredModel stored_model(std::shared_ptr<const Ising> ising, const std::string& name,
                                       bool is_graph = false);
/// The energy sign * f(x), with x = (1 - s) / 2.
KILN_TEST_API StoredModel stored_model(const Qubo& qubo, const std::string& name, double sign);

}  // namespace kiln::problems
