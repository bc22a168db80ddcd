// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "counting_queue.hpp"

#include <cstring>

namespace kiln {

CountingQueue::CountingQueue(const DeviceShape& device)
    : Queue(nullptr, device), next_(device_lines(1)) {}

void CountingQueue::plan_host_scratch(const HostTasks& tasks) {
  if (device_shape().gpu) return;
  const std::uint64_t bytes = tasks.bytes_of(device_shape().parallel_units);
  if (bytes <= host_scratch_) return;
  own_account().plan(bytes - host_scratch_, MemoryOwner::engine);
  host_scratch_ = bytes;
}

std::uint64_t TransitionScratch::transition_bytes(ChainWork, std::int64_t) const { return 0; }

void plan_host_scratch(Queue& queue, const HostTasks& tasks) {
  if (auto* const counting = dynamic_cast<CountingQueue*>(&queue)) {
    counting->plan_host_scratch(tasks);
  }
}

void* CountingQueue::do_allocate(std::size_t bytes) {
  const std::uintptr_t place = next_;
  next_ += device_lines(bytes);
  // Nobody looks there. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(place);
}

void CountingQueue::do_download(void* host, const void*, std::size_t bytes) {
  if (bytes > 0) std::memset(host, 0, bytes);
}

}  // namespace kiln
