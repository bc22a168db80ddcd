// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/fronts/select_parents.hpp"

#include "pool.hpp"

namespace kiln {

/// Says by which values parents are chosen.
class ParentSelection {
 public:
  /// Sets the ranks and scores, or the neighbourhoods, that `kernel` compares.
  virtual void choose_by(SelectParents& kernel, const Pool& pool) const = 0;

 protected:
  ~ParentSelection() = default;
};

}  // namespace kiln
