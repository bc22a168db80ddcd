// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/bifurcation/kernels.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln {

/// Writes the couplings of a pairwise model as a matrix of bytes, for BifurcationSteps.
///
/// Element (i, j) is the coupling of sites i and j divided by `unit`, 0 where they have none.
/// Columns from n_sites on are 0. Class E.
struct KILN_API BifurcationMatrix {
  static constexpr const char* name = "bifurcation_matrix";
  static constexpr const char* summary =
      "writes the couplings of a pairwise model as a matrix of bytes";

  PairwiseView model;         ///< integral, couplings within -127 unit .. 127 unit
  View2<std::int8_t> matrix;  ///< [n_sites][at least n_sites], overwritten
  std::int32_t unit = 1;      ///< divides all couplings

  double bytes() const { return bytes_of(model.entries) + bytes_of(matrix); }
};

}  // namespace kiln
