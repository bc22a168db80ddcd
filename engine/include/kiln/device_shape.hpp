// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// What of a device decides how work is cut for it: how much runs side by side, and what its
/// kernels can use. Backends state it (DeviceInfo), and queues hand it on. The default is a CPU.
struct DeviceShape {
  bool gpu = false;
  int parallel_units = 1;  ///< CPU threads or multiprocessors
  /// Sites of the largest pairwise model whose sweep can use the matrix of all weights, with local
  /// fields that are kept from sweep to sweep. 0: no sweep can.
  std::int64_t max_dense_sites = 0;
};

}  // namespace kiln
