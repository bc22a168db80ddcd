// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/conformance_case.hpp"

// Kernels of densities and of Hamiltonian dynamics.
namespace kiln::test {

/// Elementary functions and sums are the backend's own.
template <>
struct ConformanceCase<DensityEnergy> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "DensityEnergyKernel";
};
/// Named draws and exact decisions; gradients as in DensityEnergy, whose rounding a trajectory
/// amplifies.
template <>
struct ConformanceCase<HmcTransition> {
  static constexpr Accuracy accuracy = Accuracy::drawn;
  static constexpr const char* suite = "HmcTransitionKernel";
};
/// Likewise.
template <>
struct ConformanceCase<NutsTransition> {
  static constexpr Accuracy accuracy = Accuracy::drawn;
  static constexpr const char* suite = "NutsTransitionKernel";
};
/// Steps that rounding makes and amplifies; the minimum at the end is the same.
template <>
struct ConformanceCase<DensityDescent> {
  static constexpr Accuracy accuracy = Accuracy::drawn;
  static constexpr const char* suite = "DensityDescentKernel";
};
/// Named draws and exact decisions about energies that are the backend's own.
template <>
struct ConformanceCase<DensitySweep> {
  static constexpr Accuracy accuracy = Accuracy::drawn;
  static constexpr const char* suite = "DensitySweepKernel";
};
/// Sums over chains in an order of the backend's own.
template <>
struct ConformanceCase<AddPoolMoments> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "AddPoolMomentsKernel";
};
/// Likewise.
template <>
struct ConformanceCase<HmcAdapt> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "HmcAdaptKernel";
};
/// Copies, and sums of each chain by itself.
template <>
struct ConformanceCase<RecordDraws> : ExactCase {
  static constexpr const char* suite = "RecordDrawsKernel";
};
/// Values change places.
template <>
struct ConformanceCase<StateSwap> : ExactCase {
  static constexpr const char* suite = "StateSwapKernel";
};
/// As HmcTransition on the CPU; forces of a GPU are in single precision, which its tests allow for.
template <>
struct ConformanceCase<GlmTransition> {
  static constexpr Accuracy accuracy = Accuracy::drawn;
  static constexpr const char* suite = "GlmTransitionKernel";
};
/// Sums in an order of the backend's own.
template <>
struct ConformanceCase<MatrixProduct> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "MatrixProductKernel";
};
/// Sums are formed in an order that the header fixes.
template <>
struct ConformanceCase<QuadraticEnergy> : ExactCase {
  static constexpr const char* suite = "QuadraticEnergyKernel";
};
/// Named draws and exact arithmetic; sums in an order that the header fixes.
template <>
struct ConformanceCase<MomentumRefresh> : ExactCase {
  static constexpr const char* suite = "MomentumRefreshKernel";
};
/// Exact arithmetic.
template <>
struct ConformanceCase<Leapfrog> : ExactCase {
  static constexpr const char* suite = "LeapfrogKernel";
};
/// Exact arithmetic; sums in an order that the header fixes.
template <>
struct ConformanceCase<HamiltonianAccept> : ExactCase {
  static constexpr const char* suite = "HamiltonianAcceptKernel";
};

}  // namespace kiln::test
