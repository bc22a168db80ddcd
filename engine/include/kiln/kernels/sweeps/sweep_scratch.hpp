// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln {

/// Bytes of host memory in which the CPU sweeps `words` times 32 replicas with so many threads.
/// Reads the sizes of the model's arrays, and not the arrays.
KILN_API std::uint64_t metropolis_sweep_scratch(const PairwiseView& model, std::int64_t words,
                                                std::int64_t threads, DrawNaming naming);

}  // namespace kiln
