// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "kiln/export.hpp"

namespace kiln::problems::detail {

/// The portable random generator of the Stanford GraphBase: x(k) = x(k-24) - x(k-55) modulo 2^31.
/// It serves to rebuild published instances, never to run a schedule.
/// Exported for the unit tests only; the header is not installed.
///
/// @par Source  D. E. Knuth, The Stanford GraphBase, ACM Press 1993, program GB_FLIP.
class KILN_API GraphBaseRandom {
 public:
  /// Starts a stream; only seed modulo 2^31 counts, negative seeds are allowed.
  explicit GraphBaseRandom(std::int64_t seed);

  /// The next output, in [0, 2^31).
  std::uint32_t next() {
    if (position_ >= 1) return a_[position_--];
    refresh();
    return a_[55];
  }

  /// 1 or -1 with the same outputs as 2 uniform(2) - 1, but without its divisions.
  double sign() { return (next() & 1u) != 0 ? 1.0 : -1.0; }

  /// Uniform integer in [0, m). At least one output is consumed, also for m = 1.
  /// @param m  1 to 2^31 - 1.
  /// @throws InvalidArgument `problem.range` if m is below 1.
  std::int32_t uniform(std::int32_t m);

 private:
  void refresh();

  std::array<std::uint32_t, 56> a_{};  // entries 1 .. 55; entry 0 is never used
  std::size_t position_ = 54;
};

}  // namespace kiln::problems::detail
