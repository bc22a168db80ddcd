// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// Several objectives: dominance, survival, variation and hypervolume.
#define KILN_FRONTS_KERNELS(KERNEL) \
  KERNEL(ParetoDominance)           \
  KERNEL(NondominatedRanks)         \
  KERNEL(CrowdingDistance)          \
  KERNEL(ReferenceAssociation)      \
  KERNEL(Hypervolume)               \
  KERNEL(VariationOperator)         \
  KERNEL(ObjectiveValues)           \
  KERNEL(SelectParents)             \
  KERNEL(MarkDuplicates)            \
  KERNEL(SelectSurvivors)           \
  KERNEL(ReferenceFrame)            \
  KERNEL(NicheScores)               \
  KERNEL(DecompositionUpdate)       \
  KERNEL(DropLeastContributors)     \
  KERNEL(DominanceAcceptance)       \
  KERNEL(ScalarizeObjectives)       \
  KERNEL(ProposalSweep)             \
  KERNEL(FrontPoints)               \
  KERNEL(FrontProgress)             \
  KERNEL(EpsilonBoxes)

namespace kiln {

KILN_COMPONENT(FrontsComponent, "fronts", KILN_FRONTS_KERNELS)

}  // namespace kiln
