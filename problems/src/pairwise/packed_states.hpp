// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/kernels/run/state_block.hpp"
#include "kiln/queue.hpp"
#include "kiln/replica_batch.hpp"

namespace kiln::problems {

/// The spins or bits of a batch as words of 32 replicas, for kernels that read only this form. They
/// are copied first if the schedule has a separate place for every value (Needs::unpacked).
class PackedStates {
 public:
  /// Allocates the copy if one is needed.
  void prepare(const ReplicaBatch& batch, Queue& queue);
  /// @throws InvalidArgument (`objective.layout`) if the layout changed since prepare().
  View2<const std::uint32_t> of(const ReplicaBatch& batch, Queue& queue);
  /// The words themselves, for kernels that change them.
  /// @throws InvalidArgument (`objective.layout`) if the batch has none.
  static View2<std::uint32_t> in_place(const ReplicaBatch& batch);

 private:
  DeviceArray<std::byte> memory_;
  StateBlock copy_;
};

}  // namespace kiln::problems
