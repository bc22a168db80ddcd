// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// Bits of half a local field of a model that every pair of variables couples by 1 or -1, and whose
/// SignRows a GPU can use: 12 or 15. 0 for all other models, and where a replica has too few sites
/// to keep its planes in the memory of its fields.
KILN_TEST_API std::int32_t sign_planes(const PairwisePlan& plan);

/// Writes SignRows behind a matrix of `n_sites` rows, which has the memory for them.
KILN_TEST_API void write_sign_rows(std::int8_t* matrix, std::int32_t n_sites);

}  // namespace kiln::problems
