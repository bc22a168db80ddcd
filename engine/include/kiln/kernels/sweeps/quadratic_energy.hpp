// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Computes energies x^T y / 2 of all slots, y = P x; then multiplies y by the weight of its slot,
/// which gives the gradient of the weighted energy. Sums as in batched_trajectory.hpp.
struct KILN_API QuadraticEnergy {
  static constexpr const char* name = "quadratic_energy";
  static constexpr const char* summary =
      "computes the energy x^T P x / 2 of every slot from the position x and the product P x";
  static constexpr int workers = 8;

  View2<const double> position;  ///< [dimension][slots], x
  View2<double> product;         ///< [dimension][slots], y in, gradient out
  std::int64_t replicas = 0;
  View1<const double> weight;           ///< [slots]; empty: 1
  View1<double> energy;                 ///< [slots]
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
  KILN_HD std::int64_t slots() const { return replicas; }

  KILN_HD double part(std::int64_t slot, int worker) const {
    double sum = 0;
    for (std::int64_t i = worker; i < position.rows; i += workers) {
      const double y = product(i, slot);
      sum = exact::add(sum, exact::mul(position(i, slot), y));
      if (weight) product(i, slot) = exact::mul(weight[slot], y);
    }
    return sum;
  }
  KILN_HD double decide(std::int64_t, double total) const { return exact::mul(0.5, total); }
  KILN_HD void finish(std::int64_t slot, int worker, double half) const {
    if (worker == 0) energy[slot] = half;
  }
};

}  // namespace kiln
