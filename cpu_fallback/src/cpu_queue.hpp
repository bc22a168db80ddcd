// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "kiln/device/run_control.hpp"
#include "kiln/export.hpp"
#include "kiln/memory/arena.hpp"
#include "kiln/memory/idle_list.hpp"
#include "kiln/queue.hpp"

#include "thread_pool.hpp"

namespace kiln {
class TunedShapes;
}

namespace kiln::cpu {

/// The queue of the CPU backend: all work is done when the call returns.
class KILN_TEST_API CpuQueue final : public Queue {
 public:
  /// @param idle  where it finds an arena, and leaves it
  /// @param shapes  of its launches
  CpuQueue(std::shared_ptr<const KernelSets> kernels, std::shared_ptr<ThreadPool> pool,
           std::shared_ptr<IdleList<Arena>> idle, std::shared_ptr<const TunedShapes> shapes);

  ~CpuQueue() override;

  ThreadPool& pool() noexcept { return *pool_; }
  const TunedShapes& tuned_shapes() const noexcept { return *shapes_; }
  /// Memory for `bytes` bytes, aligned to 256, kept from launch to launch. It grows, and its
  /// contents are then lost. One per queue, so for one launch at a time. It counts as allocated.
  std::byte* scratch(std::size_t bytes);
  /// Peak of the bytes allocated at the same time.
  std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

  void reserve(std::size_t bytes) override;
  ArenaState arena() const override;

  const char* backend_name() const noexcept override { return "cpu"; }
  void zero(void* device, std::size_t bytes) override;
  RunSummary* summary_target() override { return &next_summary_; }
  void post_summary() override { posted_.push_back(next_summary_); }
  void copy(void* to, const void* from, std::size_t bytes) override;
  RunSummary wait_summary() override;
  void for_each_on_host(std::int64_t count, FunctionRef<void(std::int64_t)> task) override {
    pool_->for_each(count, task, alarm());
  }

 protected:
  void* do_allocate(std::size_t bytes) override;
  void do_deallocate(void* memory, std::size_t bytes) noexcept override;
  void do_upload(void* device, const void* host, std::size_t bytes) override;
  void do_download(void* host, const void* device, std::size_t bytes) override;
  void do_wait() override {}

 private:
  void free_scratch() noexcept;

  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<IdleList<Arena>> idle_;
  std::shared_ptr<const TunedShapes> shapes_;
  std::unique_ptr<Arena> arena_;
  std::uint64_t earlier_calls_ = 0;  // of the driver, for earlier queues
  RunSummary next_summary_;
  std::deque<RunSummary> posted_;
  std::uint64_t bytes_ = 0, peak_bytes_ = 0;
  std::byte* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

/// The threads of a queue, which abandon loops when its alarm is due.
struct QueueThreads {
  ThreadPool& pool;
  const Alarm* alarm;
  void for_each(std::int64_t count, FunctionRef<void(std::int64_t)> task) const {
    pool.for_each(count, task, alarm);
  }
};

/// The threads of a queue that is known to belong to this backend: every CPU launcher gets one.
inline QueueThreads pool_of(Queue& queue) {
  return {static_cast<CpuQueue&>(queue).pool(), queue.alarm()};
}

/// Rounds up to whole cache lines.
inline std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Calls task(i, scratch) for all i < count, where scratch is memory of `bytes` bytes that no other
/// call uses at the same time, aligned to 64. Allocates nothing if an earlier launch was as large.
template <class Task>
void for_each_with_scratch(Queue& queue, std::int64_t count, std::size_t bytes, const Task& task) {
  auto& own = static_cast<CpuQueue&>(queue);
  const std::size_t each = whole_lines(bytes);
  std::byte* const all = own.scratch(each * static_cast<std::size_t>(own.pool().workers(count)));
  own.pool().for_each_worker(
      count,
      [&](std::int64_t i, int worker) { task(i, all + static_cast<std::size_t>(worker) * each); },
      queue.alarm());
}

}  // namespace kiln::cpu
