// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/large_vector.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// The arrays of SliceView on the host.
struct SliceRows {
  std::int32_t max_local = 0;
  LargeVector<SliceSite> sites;
  LargeVector<std::uint32_t> runs, terms;
};

/// The rows of a plan for counting in slices; empty if its arithmetic is wide. The order of a row
/// is free: its sums are integers.
KILN_TEST_API SliceRows slice_rows(const PairwisePlan& plan);

}  // namespace kiln::problems
