// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

namespace kiln::cuda {

/// Launches sweeps with shared noise (DrawNaming::shared).
/// @return false if the model or the rule is not of its kind: then nothing is enqueued.
bool launch_shared_sweep(const MetropolisSweep& kernel, Queue& queue);

}  // namespace kiln::cuda
