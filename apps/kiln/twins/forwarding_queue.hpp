// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "kiln/device/run_control.hpp"
#include "kiln/queue.hpp"

namespace kiln::cli {

/// A queue that hands all work to another one, but for launches: these go to the kernel sets that
/// it is made with. It captures nothing.
class ForwardingQueue : public Queue {
 public:
  /// @param device  outlives this
  ForwardingQueue(KernelSets kernels, Queue& device)
      : Queue(std::make_shared<const KernelSets>(std::move(kernels)), device.device_shape()),
        device_(device) {}

  Queue& device() noexcept { return device_; }

  const char* backend_name() const noexcept override { return device_.backend_name(); }
  bool can_capture() const noexcept override { return device_.can_capture(); }
  void zero(void* device, std::size_t bytes) override { device_.zero(device, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    device_.copy(to, from, bytes);
  }
  RunSummary* summary_target() override { return device_.summary_target(); }
  void post_summary() override { device_.post_summary(); }
  RunSummary wait_summary() override { return device_.wait_summary(); }
  void for_each_on_host(std::int64_t count, FunctionRef<void(std::int64_t)> task) override {
    device_.for_each_on_host(count, task);
  }
  void* native_handle() noexcept override { return device_.native_handle(); }

 protected:
  void* do_allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  void do_deallocate(void* memory, std::size_t bytes) noexcept override {
    device_.deallocate(memory, bytes);
  }
  void* do_allocate_shared(std::size_t bytes) override { return device_.allocate_shared(bytes); }
  void do_deallocate_shared(void* memory, std::size_t bytes) noexcept override {
    device_.deallocate_shared(memory, bytes);
  }
  void do_upload(void* device, const void* host, std::size_t bytes) override {
    device_.upload(device, host, bytes);
  }
  void do_download(void* host, const void* device, std::size_t bytes) override {
    device_.download(host, device, bytes);
  }
  void do_wait() override { device_.wait(); }

 private:
  Queue& device_;
};

}  // namespace kiln::cli
