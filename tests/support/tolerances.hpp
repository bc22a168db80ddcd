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

/// The letter of a class in docs/kernels.md.
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

/// The tolerance and the test suite of a kernel: the one table of both. There is no general
/// definition, so a kernel of the catalogue without a line here does not compile
/// (tests/conformance/catalog_test.cpp), and one without tests on every backend fails there.
template <class Kernel>
struct ConformanceCase;

struct ExactCase {
  static constexpr Accuracy accuracy = Accuracy::exact;
};

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
