// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/kernels/bifurcation/bifurcation_rule.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln::cpu {

/// Some slots of all sites, as plain pointers: see SliceJob.
struct BifurcationJob {
  static constexpr int max_width = 64;

  std::int64_t n_sites = 0;  // multiple of 4
  const std::int64_t* row_begin = nullptr;
  const PairEntry* entries = nullptr;
  const double* weights = nullptr;  // like entries; null: those of the entries are exact
  const double* field = nullptr;
  const double* base = nullptr;         // field and all couplings of a site
  const std::int8_t* matrix = nullptr;  // null: rows
  std::int64_t matrix_stride = 0;       // multiple of 4
  std::int32_t matrix_unit = 1;         // of all elements of the matrix
  bool integers = false;                // forces are integers of 32 bits
  BifurcationVariant variant = BifurcationVariant::discrete;

  int width = 16;                                  // slots: 16, 32 or 64
  float *position = nullptr, *momentum = nullptr;  // of the first slot
  std::int64_t stride = 0;
  alignas(64) float detuning[max_width] = {};  // of the step
  alignas(64) float force[max_width] = {}, step[max_width] = {}, gain[max_width] = {};
  // The shown values of all positions before and after the step, and rows.
  std::byte *shown = nullptr, *next = nullptr, *rows = nullptr;
};

/// Bytes of the shown values of a tile, in the widest form that a variant has.
inline std::size_t shown_bytes(std::int64_t sites, int width) {
  return static_cast<std::size_t>(sites) * static_cast<std::size_t>(width) * 2;
}
inline constexpr int rows_in_work = 4;

/// One step of the slots of a job. All variants give the same bits.
struct BifurcationFunctions {
  /// Fills `next` from the positions.
  void (*show)(const BifurcationJob& job);
  /// Moves positions and momenta by `shown`, and fills `next`.
  void (*step)(const BifurcationJob& job);
};
extern const BifurcationFunctions bifurcation_baseline, bifurcation_avx2, bifurcation_avx512;
/// With AVX-512 VNNI, which only some processors with AVX-512 have.
extern const BifurcationFunctions bifurcation_vnni_avx512;

}  // namespace kiln::cpu
