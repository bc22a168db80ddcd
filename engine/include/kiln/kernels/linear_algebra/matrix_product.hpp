// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// C = A B, and column n of it times scale[n].
///
/// The order of the sum of each element is backend-specific (class D), the same for every launch; a
/// GPU uses double-precision tensor cores. C is neither A nor B. Nonfinite values in a row of A or
/// a column of B make the elements of that row or column nonfinite, and no others.
struct KILN_API MatrixProduct {
  static constexpr const char* name = "matrix_product";
  static constexpr const char* summary =
      "computes the matrix product C = A B, and optionally scales each column of C";
  static constexpr const char* accuracy = "D";

  View2<const double> a;                ///< [rows][inner]
  View2<const double> b;                ///< [inner][columns]
  View2<double> c;                      ///< [rows][columns]
  View1<const double> scale;            ///< [columns]; empty: 1
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
};

}  // namespace kiln
