// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// The test suite of a kernel, and how closely the backends must agree on it.
struct ConformanceCase {
  const char* suite;
  Accuracy accuracy;
};

/// The case of each kernel of the catalogue, defined by KILN_CONFORMANCE_CASE in the kernel's own
/// test. tests/conformance/catalog_test.cpp asks for all of them, so a kernel without one is an
/// undefined symbol that names it.
template <class Kernel>
ConformanceCase conformance_case();

}  // namespace kiln::test

/// Says in the test of a kernel, outside of namespaces, how closely the backends must agree. Its
/// suite is called after the kernel: `GatherStatesKernel`.
#define KILN_CONFORMANCE_CASE(KERNEL, ACCURACY)                                  \
  template <>                                                                    \
  ::kiln::test::ConformanceCase kiln::test::conformance_case<::kiln::KERNEL>() { \
    return {#KERNEL "Kernel", ::kiln::test::Accuracy::ACCURACY};                 \
  }
