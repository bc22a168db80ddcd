// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "kiln/profile/device_clock.hpp"

#include "cuda_device.hpp"
#include "cuda_queue.hpp"
#include "stream.hpp"

namespace kiln::cuda {

/// Marks are timed events in the stream of a queue. Events of marks that were forgotten are used
/// again.
class CudaClock final : public DeviceClock {
 public:
  CudaClock(std::shared_ptr<const CudaDevice> device, CudaQueue& queue);
  ~CudaClock() override;
  std::size_t mark() override;
  bool passed(std::size_t mark) override;
  double seconds(std::size_t from, std::size_t to) override;
  void forget_before(std::size_t first) override;
  double mark_s() override { return mark_s_; }

 private:
  cudaEvent_t event(std::size_t mark) const { return marks_[mark - first_]->get(); }
  void measure_marks();

  std::shared_ptr<const CudaDevice> device_;
  CudaQueue& queue_;
  std::size_t first_ = 0;  // number of marks_[0]
  std::deque<std::unique_ptr<Event>> marks_;
  std::vector<std::unique_ptr<Event>> free_;
  double mark_s_ = 0;
};

}  // namespace kiln::cuda
