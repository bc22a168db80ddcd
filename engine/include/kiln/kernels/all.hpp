// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arguments of every kernel of the catalogue, for programs that go over all of them. Code that
// launches a kernel includes the header of that kernel alone.
#include "kiln/kernels/accept_move.hpp"
#include "kiln/kernels/admit_energies.hpp"
#include "kiln/kernels/advance_tick.hpp"
#include "kiln/kernels/assign_variable.hpp"
#include "kiln/kernels/boltzmann_probabilities.hpp"
#include "kiln/kernels/categorical_energy.hpp"
#include "kiln/kernels/categorical_sweep.hpp"
#include "kiln/kernels/cluster_move.hpp"
#include "kiln/kernels/convert_layout.hpp"
#include "kiln/kernels/gather_states.hpp"
#include "kiln/kernels/ladder_statistics.hpp"
#include "kiln/kernels/ladder_update.hpp"
#include "kiln/kernels/metropolis_sweep.hpp"
#include "kiln/kernels/name_slots.hpp"
#include "kiln/kernels/pairwise_energy.hpp"
#include "kiln/kernels/pairwise_family_energy.hpp"
#include "kiln/kernels/pairwise_family_sweep.hpp"
#include "kiln/kernels/population_step.hpp"
#include "kiln/kernels/propose_move.hpp"
#include "kiln/kernels/random_state.hpp"
#include "kiln/kernels/replica_swap.hpp"
#include "kiln/kernels/resample.hpp"
#include "kiln/kernels/state_swap.hpp"
#include "kiln/kernels/summarize.hpp"
#include "kiln/kernels/temperature_update.hpp"
#include "kiln/kernels/track_best.hpp"
#include "kiln/kernels/walker_swap.hpp"
