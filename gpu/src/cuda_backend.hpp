// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kiln/backend.hpp"

#include "cuda_device.hpp"

namespace kiln::cuda {

/// One CUDA device, opened for any number of queues.
class CudaBackend final : public Backend {
 public:
  /// @throws CudaError
  explicit CudaBackend(int ordinal);
  /// The present free memory; the rest is constant.
  DeviceInfo info() const override;
  DeviceInfo constants() const override { return info_; }
  std::unique_ptr<Queue> make_queue() override;
  std::uint64_t idle_bytes() const override { return device_->idle_bytes(); }
  bool has_idle(std::uint64_t piece, std::uint64_t all) const override {
    return device_->has_idle(piece, all);
  }
  void trim() noexcept override { device_->trim(); }
  std::unique_ptr<DeviceClock> make_clock(Queue& queue) override;
  Tracer* tracer() noexcept override { return tracer_; }

 private:
  std::shared_ptr<const CudaDevice> device_;
  DeviceInfo info_;  // memory_free is 0
  Tracer* tracer_;
};

}  // namespace kiln::cuda
