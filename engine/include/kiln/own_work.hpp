// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/work_shape.hpp"

namespace kiln {

/// Ability of schedules with separate moves, which make no sweeps of the objective: the default
/// number of replicas follows from the shape of these moves, not from Objective::work_shape().
class KILN_API OwnWork {
 public:
  static constexpr std::string_view interface_name = "own work";
  virtual WorkShape own_work(const Problem& problem) const = 0;

 protected:
  ~OwnWork() = default;
};

}  // namespace kiln
