// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// States, draw identifiers, best states and report points of every run.
#define KILN_RUN_KERNELS(KERNEL) \
  KERNEL(RecordTelemetry)        \
  KERNEL(TrackBest)              \
  KERNEL(RandomState)            \
  KERNEL(ConvertLayout)          \
  KERNEL(ProposeMove)            \
  KERNEL(AcceptMove)             \
  KERNEL(AdvanceTick)            \
  KERNEL(EndTick)                \
  KERNEL(Summarize)              \
  KERNEL(EnergyHistogram)        \
  KERNEL(GatherStates)           \
  KERNEL(InitSlots)              \
  KERNEL(AssignVariable)         \
  KERNEL(MaskNonfinite)          \
  KERNEL(StopAtWork)

namespace kiln {

KILN_COMPONENT(RunComponent, "run", KILN_RUN_KERNELS)

}  // namespace kiln
