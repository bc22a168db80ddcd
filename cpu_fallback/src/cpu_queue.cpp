// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kiln/errors.hpp"

namespace kiln::cpu {
namespace {
constexpr std::size_t alignment = 256;
}

CpuQueue::~CpuQueue() {
  if (scratch_ != nullptr) do_deallocate(scratch_, scratch_bytes_);
}

std::byte* CpuQueue::scratch(std::size_t bytes) {
  if (bytes <= scratch_bytes_) return scratch_;
  if (scratch_ != nullptr) do_deallocate(scratch_, scratch_bytes_);
  scratch_ = nullptr;
  scratch_bytes_ = 0;
  scratch_ = static_cast<std::byte*>(do_allocate(bytes));
  scratch_bytes_ = bytes;
  return scratch_;
}

void* CpuQueue::do_allocate(std::size_t bytes) {
  const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, padded);
  if (memory == nullptr) {
    throw OutOfDeviceMemory("the host cannot allocate " + std::to_string(bytes) + " more bytes",
                            bytes, 0, Fix::fewer_replicas());
  }
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  return memory;
}

void CpuQueue::do_deallocate(void* memory, std::size_t bytes) noexcept {
  bytes_ -= bytes;
  std::free(memory);
}

void CpuQueue::do_upload(void* device, const void* host, std::size_t bytes) {
  if (bytes > 0) std::memcpy(device, host, bytes);
}

void CpuQueue::do_download(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0) std::memcpy(host, device, bytes);
}

void CpuQueue::zero(void* device, std::size_t bytes) {
  if (bytes > 0) std::memset(device, 0, bytes);
}

void CpuQueue::copy(void* to, const void* from, std::size_t bytes) {
  // One core does not fill the memory bus.
  constexpr std::size_t part = std::size_t{4} << 20;
  pool_->for_each(static_cast<std::int64_t>((bytes + part - 1) / part), [&](std::int64_t i) {
    const std::size_t begin = static_cast<std::size_t>(i) * part;
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                std::min(part, bytes - begin));
  });
}

RunSummary CpuQueue::wait_summary() {
  if (posted_.empty()) throw InvalidArgument("queue.summary", "no summary was posted");
  const RunSummary summary = posted_.front();
  posted_.pop_front();
  return summary;
}

}  // namespace kiln::cpu
