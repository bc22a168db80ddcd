// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"

namespace kiln {

/// An ability of objectives whose sweeps need memory of their own on the CPU, for plans of memory.
class KILN_API HostScratch {
 public:
  virtual ~HostScratch() = default;
  /// Bytes that a thread of the CPU backend takes for the sweep of 32 replicas.
  virtual std::uint64_t host_scratch_bytes() const = 0;
};

}  // namespace kiln
