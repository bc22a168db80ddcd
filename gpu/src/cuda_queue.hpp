// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kiln/device/run_control.hpp"
#include "kiln/executors/loop_summaries.hpp"
#include "kiln/executors/repeats_ticks.hpp"
#include "kiln/queue.hpp"

#include "cuda_device.hpp"
#include "queue_parts.hpp"

namespace kiln::cuda {

/// A queue on one CUDA device, with a separate non-blocking stream.
///
/// Every entry point makes the device current and restores the previous one. Small copies go
/// through pinned memory; uploads then wait for nothing, as long as there is room. Large ones wait
/// for the copy (and count as a wait): CUDA only guarantees that a copy from pageable memory *may*
/// be staged before the call returns, and from memory that the caller has pinned it certainly is
/// not.
///
/// The host looks at the device where it waits, so that every wait has a deadline: after
/// device_timeout() the device is lost (CudaDevice::lose()). It looks without a pause at first,
/// then with short naps, because a host core that spins during a run would be lost to other work.
class CudaQueue final : public Queue, public RepeatsTicks, public LoopSummaries {
 public:
  CudaQueue(std::shared_ptr<const KernelSets> kernels, std::shared_ptr<const CudaDevice> device);
  ~CudaQueue() override;

  const CudaDevice& device() const noexcept { return *device_; }
  const char* wanted_sweep_shape() const noexcept { return sweep_shape_.c_str(); }
  const char* backend_name() const noexcept override { return "cuda"; }
  void* native_handle() noexcept override { return stream(); }
  void reserve(std::size_t bytes) override;
  ArenaState arena() const override;

  void zero(void* device, std::size_t bytes) override;
  RunSummary* summary_target() override;
  void post_summary() override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  RunSummary wait_summary() override;

  /// To be called before each launch, and before what else is enqueued often. Waits where so much
  /// is enqueued that the driver would wait for room, which is a wait without a deadline.
  void make_room() {
    if (++since_mark_ >= launches_of_mark) [[unlikely]]
      mark_launches();
  }

  bool can_capture() const noexcept override { return true; }
  void begin_capture() override;
  std::unique_ptr<TickGraph> end_capture() override;
  std::unique_ptr<TickGraph> capture_loop(const RunControl* control,
                                          const std::function<void()>& body,
                                          const std::function<void()>& after,
                                          std::string& refusal) override;
  bool can_repeat(const LadderTick& tick, std::string& refusal) override;
  SummaryTarget loop_summary_target() override;
  void post_loop_summary() override;
  std::unique_ptr<HoldFlag> make_hold_flag() override;

 protected:
  void* do_allocate(std::size_t bytes) override;
  void do_deallocate(void* memory, std::size_t bytes) noexcept override;
  void* do_allocate_shared(std::size_t bytes) override;
  void do_deallocate_shared(void* memory, std::size_t bytes) noexcept override;
  void do_upload(void* device, const void* host, std::size_t bytes) override;
  void do_download(void* host, const void* device, std::size_t bytes) override;
  void do_wait() override;
  void do_replay(TickGraph& graph) override;
  void do_replay_loop(TickGraph& loop, std::uint64_t iterations) override;
  void do_begin_timer() override;
  double do_end_timer_s() override;

 private:
  static constexpr std::uint64_t max_summaries = QueueParts::max_summaries;
  static constexpr std::int64_t launches_of_mark = 256;
  // So that no more than half of the slots of loops are under way.
  static constexpr std::int64_t loop_launches_of_mark = 16;
  void refuse_in_capture(const char* what) const;
  void refuse_third_summary() const;
  void post(const RunSummary& summary);
  void begin_capture_to(cudaGraph_t graph, const cudaGraphNode_t* after);
  void end_capture_to();
  void note_capture();
  void abandon_capture() noexcept;
  void wait_for_uploads();
  template <class Query>
  void wait_until_done(const char* doing, std::chrono::nanoseconds spin, const Query& query) const;
  void wait_for_stream(const char* doing) const;
  cudaError_t try_wait() const noexcept;
  void mark_launches();
  cudaStream_t stream() const noexcept { return parts_->stream->get(); }

  std::shared_ptr<const CudaDevice> device_;
  std::unique_ptr<QueueParts> parts_;
  std::uint64_t earlier_calls_ = 0;       // of the driver, for earlier queues
  std::uint64_t posted_ = 0, taken_ = 0;  // summaries
  std::array<const RunSummary*, max_summaries> in_flight_ = {};
  std::size_t staged_ = 0;  // bytes of the staging memory that copies may still read
  bool capturing_ = false;
  std::uint64_t launches_before_capture_ = 0;
  std::chrono::nanoseconds timeout_;
  std::int64_t since_mark_ = 0;  // launches
  std::uint64_t marks_ = 0;      // of parts_->launched
  std::string sweep_shape_;      // KILN_CUDA_SWEEP_SHAPE
};

}  // namespace kiln::cuda
