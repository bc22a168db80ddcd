// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "counting_queue.hpp"

#include <algorithm>
#include <cstring>

namespace kiln {
namespace {

constexpr std::uintptr_t address_alignment = 256;

}  // namespace

CountingQueue::CountingQueue(bool cuda) : Queue(nullptr), cuda_(cuda), next_(address_alignment) {}

void* CountingQueue::do_allocate(std::size_t bytes) {
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  const std::uintptr_t place = next_;
  next_ += (bytes + address_alignment - 1) / address_alignment * address_alignment;
  // Nobody looks there. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(place);
}

void CountingQueue::do_deallocate(void*, std::size_t bytes) noexcept { bytes_ -= bytes; }

void CountingQueue::do_download(void* host, const void*, std::size_t bytes) {
  if (bytes > 0) std::memset(host, 0, bytes);
}

}  // namespace kiln
