// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace kiln {

struct MetropolisSweep;
struct PairwiseEnergy;
struct CategoricalSweep;
struct CategoricalEnergy;
struct TrackBest;
struct TemperatureUpdate;
struct RandomState;
struct ConvertLayout;
struct ProposeMove;
struct AcceptMove;
struct AdvanceTick;
struct Summarize;
struct GatherStates;
struct NameSlots;
struct BoltzmannProbabilities;
struct AssignVariable;
struct AdmitEnergies;
struct ReplicaSwap;
struct LadderStatistics;
struct LadderUpdate;
struct ClusterMove;
struct ColoringEnergy;
struct ColoringSweep;
struct ColoringTabu;
struct PopulationStep;
struct Resample;
struct PairwiseFamilySweep;
struct PairwiseFamilyEnergy;
struct WalkerSwap;
struct DensityEnergy;
struct HmcTransition;
struct NutsTransition;
struct DensityDescent;
struct DensitySweep;
struct AddPoolMoments;
struct HmcAdapt;
struct RecordDraws;
struct StateSwap;
struct GlmTransition;
struct MatrixProduct;
struct QuadraticEnergy;
struct MomentumRefresh;
struct Leapfrog;
struct HamiltonianAccept;
struct ParetoDominance;
struct NondominatedRanks;
struct CrowdingDistance;
struct ReferenceAssociation;
struct Hypervolume;
struct VaryStates;
struct ObjectiveValues;
struct SelectParents;
struct MarkDuplicates;
struct SelectSurvivors;
struct ReferenceFrame;
struct NicheScores;
struct DecompositionUpdate;
struct DropContributors;
struct DominanceAcceptance;
struct ScalarizeObjectives;
struct FrontPoints;
struct FrontProgress;
struct EpsilonBoxes;
struct GpCovariance;
struct BatchedCholesky;
struct BatchedTriangularSolve;
struct FactorAppend;
struct AcquisitionValues;
struct EvidenceGradient;
struct LbfgsStep;
struct PosteriorWeights;
struct AcquisitionGradient;
struct SpaceFillingPoints;
struct PathwiseSamples;

template <class... Kernels>
struct KernelList {
  template <class Kernel>
  static constexpr bool has = (std::is_same_v<Kernel, Kernels> || ...);
};

/// Every kernel of Kiln. A kernel is in this list, has one launcher per backend, one conformance
/// test and one row in docs/kernels.md; a missing launcher is a link error, a missing conformance
/// case a compile error. Only the names are declared here, so that a new kernel rebuilds little;
/// kiln/kernels/all.hpp has the definitions.
using KernelCatalog =
    KernelList<MetropolisSweep, PairwiseEnergy, CategoricalSweep, CategoricalEnergy, TrackBest,
               TemperatureUpdate, RandomState, ConvertLayout, ProposeMove, AcceptMove, AdvanceTick,
               Summarize, GatherStates, NameSlots, BoltzmannProbabilities, AssignVariable,
               AdmitEnergies, ReplicaSwap, LadderStatistics, LadderUpdate, ClusterMove,
               PopulationStep, Resample, PairwiseFamilySweep, PairwiseFamilyEnergy, WalkerSwap,
               DensityEnergy, HmcTransition, NutsTransition, DensityDescent, DensitySweep,
               AddPoolMoments, HmcAdapt, RecordDraws, StateSwap, GlmTransition, MatrixProduct,
               QuadraticEnergy, MomentumRefresh, Leapfrog, HamiltonianAccept, ParetoDominance,
               NondominatedRanks, CrowdingDistance, ReferenceAssociation, Hypervolume, VaryStates,
               ObjectiveValues, SelectParents, MarkDuplicates, SelectSurvivors, ReferenceFrame,
               NicheScores, DecompositionUpdate, DropContributors, DominanceAcceptance,
               ScalarizeObjectives, FrontPoints, FrontProgress, EpsilonBoxes, GpCovariance,
               BatchedCholesky, BatchedTriangularSolve, FactorAppend, AcquisitionValues,
               EvidenceGradient, LbfgsStep, PosteriorWeights, AcquisitionGradient,
               SpaceFillingPoints, PathwiseSamples, ColoringEnergy, ColoringSweep, ColoringTabu>;

/// Whether backends have launchers of a kernel.
template <class Kernel>
inline constexpr bool in_catalog = KernelCatalog::has<Kernel>;

/// How closely the backends agree on a kernel: "E" the same bits, "D" double precision with sums in
/// an order of the backend's own, "S6" the same draws on paths in double precision. A kernel says
/// so in a member `accuracy` if it is not "E". Needs the definition of the kernel.
template <class Kernel>
constexpr const char* accuracy_of() {
  if constexpr (requires { Kernel::accuracy; }) {
    return Kernel::accuracy;
  } else {
    return "E";
  }
}

}  // namespace kiln
