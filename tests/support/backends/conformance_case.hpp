// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/catalog.hpp"

namespace kiln::test {

/// How closely the backends must agree.
enum class Accuracy {
  exact,      ///< class E: the same bits
  reordered,  ///< class D: double precision, sums in an order of the backend's own
  drawn,      ///< class S6: draws are the same, paths while rounding has not grown
};

/// The letter of a class in docs/kernels/.
constexpr const char* letter_of(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::exact:
      return "E";
    case Accuracy::reordered:
      return "D";
    case Accuracy::drawn:
      return "S6";
  }
  return "";
}

/// Relative error that class D allows, measured against the sum of magnitudes.
inline constexpr double double_tolerance = 1e-12;
/// Relative error that class S6 allows after a trajectory of 20 leapfrogs that rounding does not
/// make chaotic.
inline constexpr double trajectory_tolerance = 1e-9;

/// The tolerance and the test suite of a kernel: tolerances.hpp is the one table of both. There is
/// no general definition, so a kernel of the catalogue that the table lacks does not compile
/// (tests/conformance/catalog_test.cpp), and one without tests on every backend fails there.
template <class Kernel>
struct ConformanceCase;

struct ExactCase {
  static constexpr Accuracy accuracy = Accuracy::exact;
};

}  // namespace kiln::test
