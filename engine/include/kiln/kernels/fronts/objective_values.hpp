// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/vector_function.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/vector_function_ref.hpp"
#include "kiln/kernels/run/state_block.hpp"
#include "kiln/kernels/surrogate/point_columns.hpp"

namespace kiln {

/// Evaluates a vector function at the states of all slots.
///
/// Values that are not finite are stored unchanged; a slot with a NaN is counted. Class D: the
/// function uses the elementary functions of the device.
struct KILN_API ObjectiveValues {
  static constexpr const char* name = "objective_values";
  static constexpr const char* summary =
      "evaluates the objectives and the constraint violation of each state";
  static constexpr const char* accuracy = "D";
  static constexpr int max_blocks = 8;

  VectorFunctionRef function;
  StateBlock state[max_blocks];
  std::int32_t n_blocks = 0;
  std::int64_t replicas = 0;
  PointColumns columns;
  View2<double> value;                  ///< [objectives][columns]
  View1<double> violation;              ///< [columns], total_violation(); may be empty
  View1<std::uint64_t> not_finite;      ///< [slots], counts values with a NaN; may be empty
  View2<double> constraint;             ///< [constraints][columns]; may be empty
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }

  /// Stores the values of a slot.
  KILN_HD void put(std::int64_t slot, const double* f, const double* g, int constraints) const {
    const std::int64_t column = columns[slot];
    const double sum = total_violation(g, constraints);
    bool has_nan = sum != sum;
    for (std::int64_t k = 0; k < value.rows; ++k) {
      value(k, column) = f[k];
      has_nan |= f[k] != f[k];
    }
    for (std::int64_t j = 0; j < constraint.rows; ++j) constraint(j, column) = g[j];
    if (violation) violation[column] = sum;
    if (not_finite && has_nan) ++not_finite[slot];
  }

  /// Evaluates one slot.
  template <class Function>
  KILN_HD void evaluate(const Function& f, std::int64_t slot) const {
    double values[max_objectives];
    double constraints[max_constraints];
    f(SlotPoint{state, n_blocks, slot}, values, constraints);
    put(slot, values, constraints, f.constraints());
  }
};

}  // namespace kiln
