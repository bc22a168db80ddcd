// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/conformance_case.hpp"

// Kernels that sweep, bookkeep and exchange replicas.
namespace kiln::test {

/// Decisions are made in exact arithmetic; integer energies are exact, real ones are left alone.
template <>
struct ConformanceCase<MetropolisSweep> : ExactCase {
  static constexpr const char* suite = "MetropolisSweepKernel";
};
/// Sums are formed in an order that the header fixes.
template <>
struct ConformanceCase<PairwiseEnergy> : ExactCase {
  static constexpr const char* suite = "PairwiseEnergyKernel";
};
/// Decisions and weights are made in exact arithmetic; integer energies are exact.
template <>
struct ConformanceCase<CategoricalSweep> : ExactCase {
  static constexpr const char* suite = "CategoricalSweepKernel";
};
/// Sums are formed in an order that the header fixes.
template <>
struct ConformanceCase<CategoricalEnergy> : ExactCase {
  static constexpr const char* suite = "CategoricalEnergyKernel";
};
/// Sums of integers.
template <>
struct ConformanceCase<ColoringEnergy> : ExactCase {
  static constexpr const char* suite = "ColoringEnergyKernel";
};
/// Decisions are made in exact arithmetic; energies are integers.
template <>
struct ConformanceCase<ColoringSweep> : ExactCase {
  static constexpr const char* suite = "ColoringSweepKernel";
};
/// Integers and named draws; the choice among equal moves does not depend on the threads.
template <>
struct ConformanceCase<ColoringTabu> : ExactCase {
  static constexpr const char* suite = "ColoringTabuKernel";
};
/// Comparisons and copies.
template <>
struct ConformanceCase<TrackBest> : ExactCase {
  static constexpr const char* suite = "TrackBestKernel";
};
/// kiln/device/exact_math.hpp only.
template <>
struct ConformanceCase<TemperatureUpdate> : ExactCase {
  static constexpr const char* suite = "TemperatureUpdateKernel";
};
/// Named draws and exact arithmetic.
template <>
struct ConformanceCase<RandomState> : ExactCase {
  static constexpr const char* suite = "RandomStateKernel";
};
/// Copies; f64 to f32 rounds to nearest everywhere.
template <>
struct ConformanceCase<ConvertLayout> : ExactCase {
  static constexpr const char* suite = "ConvertLayoutKernel";
};
/// Named draws and exact arithmetic.
template <>
struct ConformanceCase<ProposeMove> : ExactCase {
  static constexpr const char* suite = "ProposeMoveKernel";
};
/// Named draws and exact arithmetic.
template <>
struct ConformanceCase<AcceptMove> : ExactCase {
  static constexpr const char* suite = "AcceptMoveKernel";
};
/// Integers and one comparison.
template <>
struct ConformanceCase<AdvanceTick> : ExactCase {
  static constexpr const char* suite = "AdvanceTickKernel";
};
/// Copies.
template <>
struct ConformanceCase<GatherStates> : ExactCase {
  static constexpr const char* suite = "GatherStatesKernel";
};
/// Named draws and copies.
template <>
struct ConformanceCase<NameSlots> : ExactCase {
  static constexpr const char* suite = "NameSlotsKernel";
};
/// The mean is for display: each backend adds in an order of its own. The rest is exact.
template <>
struct ConformanceCase<Summarize> {
  static constexpr Accuracy accuracy = Accuracy::reordered;
  static constexpr const char* suite = "SummarizeKernel";
};
/// kiln/device/exact_math.hpp only; sums in an order that the header fixes.
template <>
struct ConformanceCase<BoltzmannProbabilities> : ExactCase {
  static constexpr const char* suite = "BoltzmannProbabilitiesKernel";
};
/// Copies and counts.
template <>
struct ConformanceCase<AssignVariable> : ExactCase {
  static constexpr const char* suite = "AssignVariableKernel";
};
/// Comparisons and counts.
template <>
struct ConformanceCase<AdmitEnergies> : ExactCase {
  static constexpr const char* suite = "AdmitEnergiesKernel";
};
/// Named draws, exact arithmetic, counts as sums of integers.
template <>
struct ConformanceCase<ReplicaSwap> : ExactCase {
  static constexpr const char* suite = "ReplicaSwapKernel";
};
/// Sums are formed in an order that the header fixes.
template <>
struct ConformanceCase<LadderStatistics> : ExactCase {
  static constexpr const char* suite = "LadderStatisticsKernel";
};
/// kiln/device/exact_math.hpp only.
template <>
struct ConformanceCase<LadderUpdate> : ExactCase {
  static constexpr const char* suite = "LadderUpdateKernel";
};
/// Named draws; a connected component does not depend on the order in which it is found.
template <>
struct ConformanceCase<ClusterMove> : ExactCase {
  static constexpr const char* suite = "ClusterMoveKernel";
};
/// kiln/device/exact_math.hpp only; sums in an order that the header fixes.
template <>
struct ConformanceCase<PopulationStep> : ExactCase {
  static constexpr const char* suite = "PopulationStepKernel";
};
/// Integers.
template <>
struct ConformanceCase<Resample> : ExactCase {
  static constexpr const char* suite = "ResampleKernel";
};
/// Decisions are made in exact arithmetic; sums in the order of the row.
template <>
struct ConformanceCase<PairwiseFamilySweep> : ExactCase {
  static constexpr const char* suite = "PairwiseFamilySweepKernel";
};
/// Sums are formed in an order that the header fixes.
template <>
struct ConformanceCase<PairwiseFamilyEnergy> : ExactCase {
  static constexpr const char* suite = "PairwiseFamilyEnergyKernel";
};
/// Named draws and exact arithmetic.
template <>
struct ConformanceCase<WalkerSwap> : ExactCase {
  static constexpr const char* suite = "WalkerSwapKernel";
};

}  // namespace kiln::test
