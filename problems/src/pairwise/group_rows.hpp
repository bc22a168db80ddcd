// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/large_vector.hpp"
#include "kiln/objectives/device_bundle.hpp"

#include "pairwise/pairwise_objective.hpp"
#include "pairwise/staged_sites.hpp"

namespace kiln::problems {

/// The arrays of GroupView on the host.
struct GroupRows {
  std::int32_t max_sum = 0;
  bool one_plane = true;
  std::int32_t n_hubs = 0;
  LargeVector<GroupSite> sites;
  LargeVector<std::uint32_t> terms;
  std::int32_t n_even = 0;
};

/// The rows in the bundle of a model.
class GroupPlaces {
 public:
  /// Stages the arrays. @pre the rows outlive the bundle.
  GroupPlaces(const GroupRows& rows, DeviceBundle& bundle)
      : sites_(bundle.add_lasting(rows.sites)), terms_(bundle.add_lasting(rows.terms)) {}
  /// @pre the bundle was uploaded.
  GroupView view(const GroupRows& rows, DeviceBundle& bundle) const {
    return {rows.max_sum,        rows.one_plane,      rows.n_hubs,
            bundle.view(sites_), bundle.view(terms_), rows.n_even};
  }

 private:
  DeviceBundle::Place<GroupSite> sites_;
  DeviceBundle::Place<std::uint32_t> terms_;
};

/// The couplings in the rows of a plan: all of them, or each only once, at one of its sites.
enum class RowPart { whole, half };

/// The rows of a plan for counting on a GPU. Empty if its arithmetic is wide, a row or the model is
/// too long for the counts of GroupSite, or couplings have so many bits that sums replica by
/// replica cost less. The order of a row is free: its sums are integers. Halves are balanced: a
/// site has about every other of its couplings.
KILN_TEST_API GroupRows group_rows(const PairwisePlan& plan, RowPart part = RowPart::whole);

/// Rows for a GPU: those of sweeps and those of energies.
struct GroupPair {
  GroupRows whole, half;
  StagedSites staged = {};  // of whole

  std::uint64_t bytes() const {
    return (whole.sites.size() + half.sites.size()) * sizeof(GroupSite) +
           (whole.terms.size() + half.terms.size()) * sizeof(std::uint32_t) + staged.bytes();
  }
};
KILN_TEST_API GroupPair group_pair(const PairwisePlan& plan);

}  // namespace kiln::problems
