// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_clock.hpp"

#include <algorithm>
#include <utility>

#include "cuda_check.hpp"

namespace kiln::cuda {
namespace {

constexpr int events_at_first = 1024;
constexpr std::size_t marks_in_a_row = 65;

}  // namespace

CudaClock::CudaClock(std::shared_ptr<const CudaDevice> device, CudaQueue& queue)
    : device_(std::move(device)), queue_(queue) {
  const CurrentDevice current(*device_);
  for (int i = 0; i < events_at_first; ++i) {
    free_.push_back(std::make_unique<Event>(EventKind::timed));
  }
  measure_marks();
}

CudaClock::~CudaClock() {
  if (device_->is_lost()) {
    for (auto& event : marks_) static_cast<void>(event.release());
    for (auto& event : free_) static_cast<void>(event.release());
    return;
  }
  const CurrentDevice current(*device_, std::nothrow);
  marks_.clear();
  free_.clear();
}

// The median of what lies between neighbours in a row that the device finds complete: a copy keeps
// it busy until all are enqueued.
void CudaClock::measure_marks() {
  constexpr std::int64_t busy_bytes = std::int64_t{1} << 24;
  DeviceArray<std::uint8_t> from(queue_, busy_bytes), to(queue_, busy_bytes);
  for (int i = 0; i < 64; ++i) queue_.copy(to.data(), from.data(), from.bytes());
  for (std::size_t i = 0; i < marks_in_a_row; ++i) mark();
  queue_.wait();
  std::vector<double> between;
  for (std::size_t i = 1; i < marks_in_a_row; ++i) between.push_back(seconds(i - 1, i));
  std::ranges::nth_element(between, between.begin() + marks_in_a_row / 2);
  mark_s_ = between[marks_in_a_row / 2];
  forget_before(marks_in_a_row);
}

std::size_t CudaClock::mark() {
  const CurrentDevice current(*device_);
  if (free_.empty()) {
    marks_.push_back(std::make_unique<Event>(EventKind::timed));
  } else {
    marks_.push_back(std::move(free_.back()));
    free_.pop_back();
  }
  const auto stream = static_cast<cudaStream_t>(queue_.native_handle());
  cuda_check(cudaEventRecord(marks_.back()->get(), stream), "mark a time");
  return first_ + marks_.size() - 1;
}

bool CudaClock::passed(std::size_t mark) {
  const CurrentDevice current(*device_);
  const cudaError_t status = cudaEventQuery(event(mark));
  if (status == cudaSuccess) return true;
  // "Not ready" is kept as the thread's last error and would be blamed on the next launch.
  static_cast<void>(cudaGetLastError());
  if (status == cudaErrorNotReady) return false;
  cuda_check(status, "look at a mark");
  return false;
}

double CudaClock::seconds(std::size_t from, std::size_t to) {
  const CurrentDevice current(*device_);
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, event(from), event(to)), "read a mark");
  return static_cast<double>(milliseconds) * 1e-3;
}

void CudaClock::forget_before(std::size_t first) {
  while (first_ < first && !marks_.empty()) {
    free_.push_back(std::move(marks_.front()));
    marks_.pop_front();
    ++first_;
  }
}

}  // namespace kiln::cuda
