// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kiln/executors/hold_flag.hpp"

#include "cuda_device.hpp"
#include "stream.hpp"

namespace kiln::cuda {

/// What the flags of a queue share. It must be made and destroyed while the device is current.
struct HoldParts {
  static constexpr std::size_t clear_at = 0, set_at = 1;

  explicit HoldParts(const CudaDevice& device);
  ~HoldParts();
  HoldParts(const HoldParts&) = delete;
  HoldParts& operator=(const HoldParts&) = delete;

  Stream stream;
  PinnedBuffer<std::uint32_t> values{2};  // that are copied to the word
  std::uint32_t* word = nullptr;          // on the device
};

/// A word in device memory, so that ticks read it as fast as the rest of the control block. Copies
/// on a second stream set it beside the ticks of the first: no kernel, which would wait for room on
/// a device that is full of a run.
class CudaHoldFlag final : public HoldFlag {
 public:
  /// @param parts    must outlive the flag
  /// @param timeout  after which the device counts as lost
  CudaHoldFlag(std::shared_ptr<const CudaDevice> device, HoldParts& parts,
               std::chrono::nanoseconds timeout);

  void request() noexcept override;
  void clear() override;

 private:
  std::shared_ptr<const CudaDevice> device_;
  HoldParts& parts_;
  std::chrono::nanoseconds timeout_;
};

}  // namespace kiln::cuda
