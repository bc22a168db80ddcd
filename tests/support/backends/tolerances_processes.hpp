// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/conformance_case.hpp"

// Kernels of Gaussian processes and of acquisition functions.
namespace kiln::test {

/// Elementary functions of the device.
template <>
struct ConformanceCase<GpCovariance> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "GpCovarianceKernel";
};
/// Sums in an order of the backend's own, amplified by the condition of a matrix.
template <>
struct ConformanceCase<BatchedCholesky> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "BatchedCholeskyKernel";
};
/// Likewise.
template <>
struct ConformanceCase<BatchedTriangularSolve> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "BatchedTriangularSolveKernel";
};
/// Likewise.
template <>
struct ConformanceCase<FactorAppend> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "FactorAppendKernel";
};
/// Elementary functions of the device.
template <>
struct ConformanceCase<AcquisitionValues> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "AcquisitionValuesKernel";
};
/// Named draws, integers and exact arithmetic.
template <>
struct ConformanceCase<SpaceFillingPoints> : ExactCase {
  static constexpr const char* suite = "SpaceFillingPointsKernel";
};
/// Named draws, and elementary functions and sums of the device.
template <>
struct ConformanceCase<PathwiseSamples> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "PathwiseSamplesKernel";
};
/// Elementary functions and sums of the device, amplified by the condition of a matrix.
template <>
struct ConformanceCase<EvidenceGradient> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "EvidenceGradientKernel";
};
/// Sums in an order of the backend's own, which steps amplify; the minimum at the end is the same.
template <>
struct ConformanceCase<LbfgsStep> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "LbfgsStepKernel";
};
/// Sums in an order of the backend's own.
template <>
struct ConformanceCase<PosteriorWeights> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "PosteriorWeightsKernel";
};
/// Elementary functions and sums of the device.
template <>
struct ConformanceCase<AcquisitionGradient> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "AcquisitionGradientKernel";
};

}  // namespace kiln::test
