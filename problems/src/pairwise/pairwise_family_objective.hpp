// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/pairwise_family_model.hpp"
#include "kiln/objective.hpp"
#include "kiln/objectives/device_bundle.hpp"
#include "kiln/problems/pairwise_family.hpp"
#include "kiln/queue.hpp"

#include "pairwise/group_rows.hpp"

namespace kiln::problems {

/// The arrays of PairwiseFamilyView on the host.
struct PairwiseFamilyPlan {
  std::int32_t n_variables = 0;
  std::int32_t n_classes = 0;
  std::int32_t max_neighbors = 0;
  bool sequential = false;
  bool has_fields = false;
  double target = 1;
  std::vector<std::int32_t> class_begin, variable;
  std::vector<std::int64_t> row_begin;
  std::vector<FamilyEntry> entries;
  std::vector<FamilyPair> field;
  GroupRows base_groups, term_groups;
};

/// Lays out a family in the order that plan_pairwise() gives the union of both graphs. A and B are
/// canonical and taken as they are.
KILN_TEST_API PairwiseFamilyPlan plan_pairwise_family(const PairwiseFamily& family);

/// A planned family on the device of a queue.
class KILN_API BoundPairwiseFamilyModel {
 public:
  BoundPairwiseFamilyModel(const PairwiseFamilyPlan& plan, Queue& queue);
  const PairwiseFamilyView& view() const { return view_; }

 private:
  DeviceBundle arrays_;
  PairwiseFamilyView view_;
};

/// The member A + lambda B of a family.
KILN_TEST_API Ising member_of(const PairwiseFamily& family, double lambda);

/// As integer_scale(const Ising&), for A and B together.
KILN_TEST_API double integer_scale(const PairwiseFamily& family);

/// Objective over spins; `family` holds stored units, its offsets are ignored.
std::shared_ptr<const Objective> make_pairwise_family_objective(std::string name,
                                                                const PairwiseFamily& family);

}  // namespace kiln::problems
