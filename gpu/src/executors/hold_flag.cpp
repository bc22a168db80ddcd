// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "executors/hold_flag.hpp"

#include <utility>

#include "cuda_check.hpp"
#include "look_until_done.hpp"

namespace kiln::cuda {
namespace {

constexpr std::chrono::microseconds longest_copy(200);

}  // namespace

HoldParts::HoldParts(const CudaDevice& device)
    : word(static_cast<std::uint32_t*>(device.allocate(sizeof(std::uint32_t), stream.get()))) {
  values[clear_at] = 0;
  values[set_at] = 1;
}

HoldParts::~HoldParts() { static_cast<void>(cudaFreeAsync(word, stream.get())); }

CudaHoldFlag::CudaHoldFlag(std::shared_ptr<const CudaDevice> device, HoldParts& parts,
                           std::chrono::nanoseconds timeout)
    : device_(std::move(device)), parts_(parts), timeout_(timeout) {
  word_ = parts_.word;
  clear();
}

// What fails here is a device that fails, which the queue of the run tells.
void CudaHoldFlag::request() noexcept {
  if (device_->is_lost()) return;
  const CurrentDevice current(*device_, std::nothrow);
  static_cast<void>(cudaMemcpyAsync(parts_.word, &parts_.values[HoldParts::set_at],
                                    sizeof(std::uint32_t), cudaMemcpyHostToDevice,
                                    parts_.stream.get()));
}

// On the same stream: requests that have returned come before it.
void CudaHoldFlag::clear() {
  constexpr const char* doing = "clear the flag that holds a run";
  const CurrentDevice current(*device_);
  cuda_check(cudaMemcpyAsync(parts_.word, &parts_.values[HoldParts::clear_at],
                             sizeof(std::uint32_t), cudaMemcpyHostToDevice, parts_.stream.get()),
             doing);
  const cudaError_t status = look_until_done(
      longest_copy, timeout_, [this] { return cudaStreamQuery(parts_.stream.get()); });
  if (status == cudaErrorNotReady) {
    device_->lose(timeout_);
    device_->require_answers(doing);
  }
  cuda_check(status, doing);
}

}  // namespace kiln::cuda
