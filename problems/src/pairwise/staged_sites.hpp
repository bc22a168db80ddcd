// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"
#include "kiln/large_vector.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

struct GroupRows;

/// The arrays of StagedView on the host.
struct StagedSites {
  LargeVector<StagedSite> sites;
  LargeVector<std::int32_t> begin;

  std::uint64_t bytes() const {
    return sites.size() * sizeof(StagedSite) + begin.size() * sizeof(std::int32_t);
  }
};

/// The stages of a plan with these rows. Empty if the rows are, if their sums are too large for
/// sweeps by planes, or if the states of so many variables fit on no chip.
///
/// This is list scheduling: a stage takes sites whose earlier neighbours are done, the most urgent
/// ones first, as many as fill whole rounds. A site is urgent if a long chain of neighbours of
/// rising classes begins there.
/// @par Source  Hu, Oper. Res. 9 (1961) 841.
KILN_TEST_API StagedSites staged_sites(const PairwisePlan& plan, const GroupRows& rows);

}  // namespace kiln::problems
