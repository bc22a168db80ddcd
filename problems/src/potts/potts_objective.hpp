// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/categorical_model.hpp"
#include "kiln/large_vector.hpp"
#include "kiln/objective.hpp"
#include "kiln/objectives/coloring.hpp"
#include "kiln/objectives/device_bundle.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/queue.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// The arrays of CategoricalView on the host.
struct PottsPlan {
  PairwisePlan pairs;         ///< order, classes and rows; its fields are 0 and not used
  std::int32_t values = 2;    ///< q
  bool integral = false;      ///< couplings and fields
  std::vector<double> field;  ///< [n_sites][values]; empty: no fields
  /// The weights of the entries of a narrow model, which the CPU reads; else empty.
  LargeVector<std::int16_t> weights_i16;
};

/// Lays out a model in canonical form: the couplings as plan_pairwise() does.
KILN_TEST_API PottsPlan plan_potts(const Potts& model);

/// As integer_scale(const Ising&), over couplings and fields.
double integer_scale(const Potts& model);

/// A planned model on the device of a queue. The plan must outlive the model: the CPU reads it in
/// place.
class KILN_API BoundPottsModel {
 public:
  BoundPottsModel(const PottsPlan& plan, Queue& queue);
  BoundPottsModel(PottsPlan&& plan, Queue& queue) = delete;
  const CategoricalView& view() const { return view_; }

 private:
  DeviceBundle arrays_;
  CategoricalView view_;
};

/// The energy of a state, by the definition.
/// @param decimal  the scale at which coefficients, decimal fractions, are integers: these are
/// added
///   up, and the sum is divided; 0: coefficients are added as they are
KILN_TEST_API double potts_energy(const Potts& model, std::span<const std::int32_t> values,
                                  double decimal = 0);

/// Objective over categories. `model` holds stored units, in canonical form.
std::shared_ptr<const Objective> make_potts_objective(std::string name, Potts model);

/// The same for a graph whose vertices are coloured with a given number of colours: the couplings
/// of `model` are 1. The objective also offers its ColoringModelled, which `coloring` makes when
/// somebody asks for it.
std::shared_ptr<const Objective> make_coloring_objective(std::string name, Potts model,
                                                         std::function<ColoringModel()> coloring);

}  // namespace kiln::problems
