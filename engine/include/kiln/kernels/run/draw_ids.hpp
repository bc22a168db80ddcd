// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rng_domains.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// The identity of a slot's draws: the key of its group and its index within the group. So a group
/// in a batch of a thousand has the draws that it would have alone.
struct DrawIds {
  View1<const std::uint64_t> key;      ///< [slots]
  View1<const std::uint32_t> replica;  ///< [slots]

  double bytes() const { return bytes_of(key) + bytes_of(replica); }
  KILN_HD DrawName at(std::int64_t slot, std::uint64_t step, RngDomain domain) const {
    return DrawName{key[slot], step, replica[slot], domain, 0};
  }
};

}  // namespace kiln
