// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"

namespace kiln {

/// The columns of a matrix of points that belong to the slots of a batch: the groups are side by
/// side with room for others between them. Parents and children of a population are two such sets
/// in one matrix, so that they are compared in place.
struct PointColumns {
  std::int64_t group_size = 1;  ///< slots of a group
  std::int64_t stride = 1;      ///< columns from one group to the next
  std::int64_t offset = 0;      ///< of the first slot of a group

  KILN_HD std::int64_t operator[](std::int64_t slot) const {
    return slot / group_size * stride + offset + slot % group_size;
  }
  KILN_HD std::int64_t of(std::int64_t group, std::int64_t member) const {
    return group * stride + offset + member;
  }
};

}  // namespace kiln
