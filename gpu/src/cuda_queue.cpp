// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_queue.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "kiln/device/device_wait.hpp"
#include "kiln/errors.hpp"

#include "cuda_check.hpp"
#include "look_until_done.hpp"

namespace kiln::cuda {
namespace {

using std::chrono::microseconds;

// What a nap takes at least.
constexpr microseconds short_spin(100);
// Of waits after which the device has nothing to do: a nap makes them a twentieth longer at most.
constexpr microseconds long_spin(2000);
}  // namespace

CudaQueue::CudaQueue(std::shared_ptr<const KernelSets> kernels,
                     std::shared_ptr<const CudaDevice> device)
    : Queue(std::move(kernels), device->shape()),
      device_(std::move(device)),
      timeout_(device_timeout()) {
  if (const char* const shape = std::getenv("KILN_CUDA_SWEEP_SHAPE")) sweep_shape_ = shape;
  const CurrentDevice current(*device_);
  parts_ = device_->idle().take();
  if (!parts_) parts_ = std::make_unique<QueueParts>(*device_);
  earlier_calls_ = parts_->arena.state().driver_calls;
}

// A stream that failed, and an arena in which something still lives, serve no other queue.
CudaQueue::~CudaQueue() {
  const CurrentDevice current(*device_, std::nothrow);
  if (!device_->is_lost()) abandon_capture();
  const bool is_whole = !device_->is_lost() && try_wait() == cudaSuccess;
  if (device_->is_lost()) {
    static_cast<void>(parts_.release());
    return;
  }
  const bool is_empty = parts_->arena.used_bytes() == 0 && parts_->pinned.used_bytes() == 0;
  if (is_whole && is_empty) device_->idle().give(std::move(parts_));
  parts_.reset();  // here, while the device is current
}

void CudaQueue::reserve(std::size_t bytes) {
  refuse_in_capture("allocate");
  const CurrentDevice current(*device_);
  // A queue that has done nothing yet takes the arena that fits it best, and leaves larger ones.
  const bool is_new = counters_.launches + counters_.allocations + counters_.copies == 0;
  if (is_new) {
    device_->idle().exchange(
        parts_,
        [bytes](const QueueParts& p) { return p.arena.state().largest_free_bytes >= bytes; },
        [](const QueueParts& p) { return p.arena.reserved_bytes(); });
    earlier_calls_ = parts_->arena.state().driver_calls;
  }
  parts_->arena.reserve(bytes);
}

ArenaState CudaQueue::arena() const {
  ArenaState state = parts_->arena.state();
  state.driver_calls -= earlier_calls_;
  return state;
}

void CudaQueue::refuse_in_capture(const char* what) const {
  if (!capturing_) return;
  throw InvalidArgument("queue.capture", std::string("a tick under capture cannot ") + what,
                        "a tick consists of launches only");
}

// An exception may leave a capture half-way, and then memory is freed on the capturing stream.
void CudaQueue::abandon_capture() noexcept {
  if (!std::exchange(capturing_, false)) return;
  cudaGraph_t graph = nullptr;
  static_cast<void>(cudaStreamEndCapture(stream(), &graph));
  if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
  static_cast<void>(cudaGetLastError());
}

void* CudaQueue::do_allocate(std::size_t bytes) {
  refuse_in_capture("allocate");
  const CurrentDevice current(*device_);
  return parts_->arena.allocate(bytes);
}

void CudaQueue::do_deallocate(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr || device_->is_lost()) return;
  const CurrentDevice current(*device_, std::nothrow);
  abandon_capture();
  parts_->arena.deallocate(memory, bytes);
}

void* CudaQueue::do_allocate_shared(std::size_t bytes) {
  refuse_in_capture("allocate");
  const CurrentDevice current(*device_);
  void* const memory = parts_->pinned.allocate(bytes);
  std::memset(memory, 0, bytes);
  return memory;
}

void CudaQueue::do_deallocate_shared(void* memory, std::size_t bytes) noexcept {
  if (device_->is_lost()) return;
  const CurrentDevice current(*device_, std::nothrow);
  abandon_capture();
  if (try_wait() == cudaErrorNotReady) return;  // something may still write to it
  parts_->pinned.deallocate(memory, bytes);
}

template <class Query>
void CudaQueue::wait_until_done(const char* doing, std::chrono::nanoseconds spin,
                                const Query& query) const {
  const cudaError_t status = look_until_done(spin, timeout_, query);
  if (status == cudaErrorNotReady) {
    device_->lose(timeout_);
    device_->require_answers(doing);
  }
  cuda_check(status, doing);
}

// For destructors, which cannot throw.
cudaError_t CudaQueue::try_wait() const noexcept {
  const cudaError_t status =
      look_until_done(long_spin, timeout_, [this] { return cudaStreamQuery(stream()); });
  if (status == cudaErrorNotReady) device_->lose(timeout_);
  return status;
}

void CudaQueue::wait_for_stream(const char* doing) const {
  wait_until_done(doing, long_spin, [this] { return cudaStreamQuery(stream()); });
}

// Of two events in turn, one lies behind all launches but those since the last mark.
void CudaQueue::mark_launches() {
  since_mark_ = 0;
  if (capturing_) return;
  const auto event = [this](std::uint64_t mark) { return parts_->launched[mark % 2].get(); };
  cuda_check(cudaEventRecord(event(marks_), stream()), "mark launches");
  if (++marks_ < 2) return;
  wait_until_done("wait for earlier launches", short_spin,
                  [&] { return cudaEventQuery(event(marks_ - 2)); });
}

void CudaQueue::wait_for_uploads() {
  ++counters_.synchronizations;
  wait_for_stream("wait for a copy to the device");
  staged_ = 0;
}

void CudaQueue::do_upload(void* device, const void* host, std::size_t bytes) {
  constexpr std::size_t staging = QueueParts::staging_bytes, largest_staged = staging / 4;
  refuse_in_capture("copy");
  if (bytes == 0) return;
  const CurrentDevice current(*device_);
  const bool is_staged = bytes <= largest_staged;
  make_room();
  if (is_staged) {
    if (staged_ + bytes > staging) wait_for_uploads();
    host = std::memcpy(parts_->staging.data() + staged_, host, bytes);
    staged_ += bytes;
  } else {
    wait_for_stream("wait before a copy to the device");  // the copy itself may wait for ever
  }
  cuda_check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream()),
             "copy to the device");
  if (!is_staged) wait_for_uploads();
}

void CudaQueue::do_download(void* host, const void* device, std::size_t bytes) {
  refuse_in_capture("copy");
  const CurrentDevice current(*device_);
  const bool is_staged = staged_ + bytes <= QueueParts::staging_bytes;
  void* const to = is_staged ? parts_->staging.data() + staged_ : host;
  if (!is_staged) wait_for_stream("wait before a copy to the host");
  if (bytes > 0) {
    cuda_check(cudaMemcpyAsync(to, device, bytes, cudaMemcpyDeviceToHost, stream()),
               "copy to the host");
  }
  wait_for_stream("wait for a copy to the host");
  if (is_staged && bytes > 0) std::memcpy(host, to, bytes);
  staged_ = 0;
}

void CudaQueue::zero(void* device, std::size_t bytes) {
  if (bytes == 0) return;
  const CurrentDevice current(*device_);
  make_room();
  cuda_check(cudaMemsetAsync(device, 0, bytes, stream()), "zero device memory");
}

void CudaQueue::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const CurrentDevice current(*device_);
  make_room();
  cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()),
             "copy within device memory");
}

void CudaQueue::do_begin_timer() {
  refuse_in_capture("begin a timer");
  const CurrentDevice current(*device_);
  cuda_check(cudaEventRecord(parts_->timer_begin.get(), stream()), "begin a timer");
}

double CudaQueue::do_end_timer_s() {
  refuse_in_capture("end a timer");
  const CurrentDevice current(*device_);
  cuda_check(cudaEventRecord(parts_->timer_end.get(), stream()), "end a timer");
  wait_until_done("wait for a timer", long_spin,
                  [this] { return cudaEventQuery(parts_->timer_end.get()); });
  float milliseconds = 0;
  cuda_check(
      cudaEventElapsedTime(&milliseconds, parts_->timer_begin.get(), parts_->timer_end.get()),
      "read a timer");
  return static_cast<double>(milliseconds) * 1e-3;
}

void CudaQueue::do_wait() {
  refuse_in_capture("wait");
  const CurrentDevice current(*device_);
  wait_for_stream("wait for the device");
  staged_ = 0;
}

void CudaQueue::refuse_third_summary() const {
  if (posted_ - taken_ < max_summaries) return;
  throw InvalidArgument("queue.summaries", "two summaries are already in flight");
}

RunSummary* CudaQueue::summary_target() {
  refuse_third_summary();
  // Pinned memory has one address on both sides (unified addressing).
  return &parts_->summaries[posted_ % max_summaries];
}

void CudaQueue::post_summary() { post(parts_->summaries[posted_ % max_summaries]); }

void CudaQueue::post(const RunSummary& summary) {
  refuse_in_capture("post a summary");
  const CurrentDevice current(*device_);
  const std::uint64_t place = posted_ % max_summaries;
  cuda_check(cudaEventRecord(parts_->summary_ready[place].get(), stream()), "mark a summary");
  in_flight_[place] = &summary;
  ++posted_;
}

RunSummary CudaQueue::wait_summary() {
  if (posted_ == taken_) throw InvalidArgument("queue.summaries", "no summary is in flight");
  const CurrentDevice current(*device_);
  const std::uint64_t place = taken_ % max_summaries;
  wait_until_done("wait for a summary", short_spin,
                  [&] { return cudaEventQuery(parts_->summary_ready[place].get()); });
  ++taken_;
  return *in_flight_[place];
}

}  // namespace kiln::cuda
