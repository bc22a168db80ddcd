// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/accept_move.hpp"
#include "kiln/kernels/advance_tick.hpp"
#include "kiln/kernels/convert_layout.hpp"
#include "kiln/kernels/metropolis_sweep.hpp"
#include "kiln/kernels/pairwise_energy.hpp"
#include "kiln/kernels/propose_move.hpp"
#include "kiln/kernels/random_state.hpp"
#include "kiln/kernels/summarize.hpp"
#include "kiln/kernels/temperature_update.hpp"
#include "kiln/kernels/track_best.hpp"

namespace kiln {

template <class... Kernels>
struct KernelList {};

/// Every kernel of Kiln. A kernel is in this list, has one launcher per backend, one conformance
/// test and one row in docs/kernels.md; a missing launcher is a link error, a missing conformance
/// case a compile error.
using KernelCatalog =
    KernelList<MetropolisSweep, PairwiseEnergy, TrackBest, TemperatureUpdate, RandomState,
               ConvertLayout, ProposeMove, AcceptMove, AdvanceTick, Summarize>;

}  // namespace kiln
