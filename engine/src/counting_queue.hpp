// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// A queue without a device: its account adds up allocations, and it does nothing else. Its
/// addresses are only numbers; downloads give zeros.
class CountingQueue final : public Queue {
 public:
  /// @param device  the simulated device.
  explicit CountingQueue(const DeviceShape& device);

  /// Launches of the CPU share the memory of their threads: the largest counts.
  void plan_host_scratch(const HostTasks& tasks);

  const char* backend_name() const noexcept override { return device_shape().gpu ? "cuda" : "cpu"; }
  void zero(void*, std::size_t) override {}
  void copy(void*, const void*, std::size_t) override {}
  RunSummary* summary_target() override { return &summary_; }
  void post_summary() override {}
  RunSummary wait_summary() override { return {}; }

 protected:
  void* do_allocate(std::size_t bytes) override;
  void do_deallocate(void*, std::size_t) noexcept override {}
  void do_upload(void*, const void*, std::size_t) override {}
  void do_download(void* host, const void* device, std::size_t bytes) override;
  void do_wait() override {}

 private:
  std::uint64_t host_scratch_ = 0;
  RunSummary summary_;
  std::uintptr_t next_;
};

}  // namespace kiln
