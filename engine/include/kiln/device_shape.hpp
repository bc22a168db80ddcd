// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// The properties of a device that decide how work is divided: how much runs side by side, and what
/// its kernels can use. Backends fill it in (DeviceInfo), and queues pass it on. The default is a
/// CPU.
struct DeviceShape {
  bool gpu = false;
  int parallel_units = 1;  ///< CPU threads or multiprocessors
  /// Sites of the largest pairwise model whose sweep can use the dense matrix of weights, with
  /// local fields kept from sweep to sweep. 0: no sweep can.
  std::int64_t max_dense_sites = 0;
  /// Of a GPU, 10 times the major plus the minor number: 90 for a Hopper. 0: a CPU.
  int compute_capability = 0;
  /// Whether the backend multiplies packed factors (is_packed()): it has code for the warp-group
  /// instructions of the device.
  bool packed_products = false;
};

}  // namespace kiln
