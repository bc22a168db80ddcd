// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/conformance_case.hpp"

// Kernels for several objectives.
namespace kiln::test {

/// Comparisons and counts.
template <>
struct ConformanceCase<ParetoDominance> : ExactCase {
  static constexpr const char* suite = "ParetoDominanceKernel";
};
/// Comparisons and counts.
template <>
struct ConformanceCase<NondominatedRanks> : ExactCase {
  static constexpr const char* suite = "NondominatedRanksKernel";
};
/// Comparisons; the terms of a point are added in the order of the objectives.
template <>
struct ConformanceCase<CrowdingDistance> : ExactCase {
  static constexpr const char* suite = "CrowdingDistanceKernel";
};
/// Exact arithmetic; sums over the objectives in their order.
template <>
struct ConformanceCase<ReferenceAssociation> : ExactCase {
  static constexpr const char* suite = "ReferenceAssociationKernel";
};
/// Sums in an order of the backend's own; samples are named, their counts the same.
template <>
struct ConformanceCase<Hypervolume> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "HypervolumeKernel";
};
/// Named draws and exact arithmetic.
template <>
struct ConformanceCase<VaryStates> : ExactCase {
  static constexpr const char* suite = "VaryStatesKernel";
};
/// Elementary functions of the device.
template <>
struct ConformanceCase<ObjectiveValues> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "ObjectiveValuesKernel";
};
/// Named draws and comparisons.
template <>
struct ConformanceCase<SelectParents> : ExactCase {
  static constexpr const char* suite = "SelectParentsKernel";
};
/// Comparisons.
template <>
struct ConformanceCase<MarkDuplicates> : ExactCase {
  static constexpr const char* suite = "MarkDuplicatesKernel";
};
/// Comparisons and copies.
template <>
struct ConformanceCase<SelectSurvivors> : ExactCase {
  static constexpr const char* suite = "SelectSurvivorsKernel";
};
/// Exact arithmetic, minima.
template <>
struct ConformanceCase<ReferenceFrame> : ExactCase {
  static constexpr const char* suite = "ReferenceFrameKernel";
};
/// Named draws, comparisons and counts.
template <>
struct ConformanceCase<NicheScores> : ExactCase {
  static constexpr const char* suite = "NicheScoresKernel";
};
/// Exact arithmetic and comparisons.
template <>
struct ConformanceCase<DecompositionUpdate> : ExactCase {
  static constexpr const char* suite = "DecompositionUpdateKernel";
};
/// Exact arithmetic and comparisons, given the contributions.
template <>
struct ConformanceCase<DropContributors> : ExactCase {
  static constexpr const char* suite = "DropContributorsKernel";
};
/// Named draws and exact arithmetic.
template <>
struct ConformanceCase<DominanceAcceptance> : ExactCase {
  static constexpr const char* suite = "DominanceAcceptanceKernel";
};
/// Exact arithmetic.
template <>
struct ConformanceCase<ScalarizeObjectives> : ExactCase {
  static constexpr const char* suite = "ScalarizeObjectivesKernel";
};
/// Exact arithmetic.
template <>
struct ConformanceCase<FrontPoints> : ExactCase {
  static constexpr const char* suite = "FrontPointsKernel";
};
/// Exact arithmetic.
template <>
struct ConformanceCase<EpsilonBoxes> : ExactCase {
  static constexpr const char* suite = "EpsilonBoxesKernel";
};
/// Comparisons.
template <>
struct ConformanceCase<FrontProgress> : ExactCase {
  static constexpr const char* suite = "FrontProgressKernel";
};

}  // namespace kiln::test
