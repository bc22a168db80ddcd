// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "kiln/errors.hpp"

namespace kiln::cpu {
namespace {

class HostMemory final : public MemorySource {
 public:
  void* take(std::size_t bytes) override {
    void* const memory = std::aligned_alloc(device_lines(1), device_lines(bytes));
    if (memory != nullptr) return memory;
    throw OutOfDeviceMemory("the host cannot allocate " + std::to_string(bytes) + " more bytes",
                            bytes, 0, Fix::fewer_replicas());
  }
  void give(void* memory, std::size_t) noexcept override { std::free(memory); }
  void fill(void* memory, std::size_t bytes, unsigned char value) override {
    std::memset(memory, value, bytes);
  }
};

}  // namespace

CpuQueue::CpuQueue(std::shared_ptr<const KernelSets> kernels, std::shared_ptr<ThreadPool> pool,
                   std::shared_ptr<IdleList<Arena>> idle, std::shared_ptr<const TunedShapes> shapes)
    : Queue(std::move(kernels), {.parallel_units = pool->threads()}),
      pool_(std::move(pool)),
      idle_(std::move(idle)),
      shapes_(std::move(shapes)),
      arena_(idle_->take()) {
  if (!arena_) arena_ = std::make_unique<Arena>(std::make_unique<HostMemory>());
  earlier_calls_ = arena_->state().driver_calls;
}

CpuQueue::~CpuQueue() {
  if (scratch_ != nullptr) free_scratch();
  if (arena_->used_bytes() == 0) idle_->give(std::move(arena_));
}

// A queue that has nothing yet takes the arena that fits it best, and leaves larger ones to others.
void CpuQueue::reserve(std::size_t bytes) {
  if (counters_.allocations == 0) {
    idle_->exchange(
        arena_, [bytes](const Arena& a) { return a.state().largest_free_bytes >= bytes; },
        [](const Arena& a) { return a.reserved_bytes(); });
    earlier_calls_ = arena_->state().driver_calls;
  }
  arena_->reserve(bytes);
}

ArenaState CpuQueue::arena() const {
  ArenaState state = arena_->state();
  state.driver_calls -= earlier_calls_;
  return state;
}

void CpuQueue::free_scratch() noexcept {
  own_account().give(scratch_);
  do_deallocate(scratch_, scratch_bytes_);
  scratch_ = nullptr;
  scratch_bytes_ = 0;
}

std::byte* CpuQueue::scratch(std::size_t bytes) {
  if (bytes <= scratch_bytes_) return scratch_;
  if (scratch_ != nullptr) free_scratch();
  scratch_ = static_cast<std::byte*>(do_allocate(bytes));
  scratch_bytes_ = bytes;
  own_account().take(scratch_, bytes, MemoryOwner::engine);
  return scratch_;
}

void* CpuQueue::do_allocate(std::size_t bytes) {
  void* const memory = arena_->allocate(bytes);
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  return memory;
}

void CpuQueue::do_deallocate(void* memory, std::size_t bytes) noexcept {
  bytes_ -= bytes;
  arena_->deallocate(memory, bytes);
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
