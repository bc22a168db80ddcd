// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/device/view_bytes.hpp"
#include "kiln/kernels/all.hpp"
#include "kiln/kernels/catalog.hpp"

#include "twins/difference.hpp"
#include "twins/forwarding_queue.hpp"
#include "twins/model_queue.hpp"

namespace kiln::cli {

/// Launches of one kernel on both devices.
struct TwinLaunch {
  std::string kernel;
  std::string accuracy;        ///< accuracy_of() the kernel
  std::uint64_t written = 0;   ///< words of 8 bytes that the device changed
  Difference difference = {};  ///< of all memory that the kernel can reach, but for scratch
};

/// A part of the memory of a device that a kernel can reach, and its copy for the twin.
struct TwinMemory {
  std::byte* device = nullptr;
  std::vector<std::byte> before;
  DeviceArray<std::byte> twin;  ///< of the CPU, aligned as arrays of a queue are
};

/// A queue that launches kernels twice while it compares: on its device, and on copies of the same
/// memory on a CPU. The device keeps its results. Which memory a kernel can reach follows from its
/// arguments: each pointer into an allocation of this queue stands for the allocation.
class TwinQueue final : public ForwardingQueue {
 public:
  /// @param device, cpu  outlive this
  /// @param models  has launched the same kernels on the CPU, with models that have its tables;
  ///   null: the models of the device have them
  TwinQueue(Queue& device, Queue& cpu, const ModelQueue* models = nullptr);

  /// While `work` runs, the first launches of a kernel are compared.
  /// @param most  of them
  /// @return them, in their order
  std::vector<TwinLaunch> compare(std::string_view kernel, std::size_t most,
                                  const std::function<void()>& work);

  /// From now on new memory is filled with a pattern, so that what a kernel does not write is not
  /// what an earlier one has left there.
  void fill_memory() { fills_ = true; }
  /// The contents of all memory that was allocated, and puts them back.
  using Contents = std::vector<std::pair<std::byte*, std::vector<std::byte>>>;
  Contents contents();
  void restore(const Contents& contents);

  /// From now on each launch of the twin is the argument of a call of `within`, which calls it: the
  /// twin may need another state of the program than the device.
  void launch_twins_within(std::function<void(const std::function<void()>& launch)> within) {
    within_ = std::move(within);
  }

 private:
  template <class Kernel>
  friend void launch_twins(const Kernel& kernel, Queue& queue);
  using Ranges = std::vector<std::pair<const void*, double>>;  // first byte and number of bytes

  void* do_allocate(std::size_t bytes) override;
  void do_deallocate(void* memory, std::size_t bytes) noexcept override;

  bool compares(std::string_view kernel) const {
    return kernel == compared_ && launches_.size() < most_;
  }
  /// Copies what the arguments point to, and makes them point to the copies.
  std::vector<TwinMemory> copy_memory(std::span<std::byte> arguments);
  void add(TwinLaunch launch, const std::vector<TwinMemory>& memories, const Ranges& scratch);

  Queue& cpu_;
  const ModelQueue* models_;
  std::function<void(const std::function<void()>&)> within_;
  std::map<std::byte*, std::size_t> allocations_;  // first byte, and number of bytes
  bool fills_ = false;
  std::string_view compared_;  // the kernel; "": none
  std::size_t most_ = 0;       // launches of it
  std::vector<TwinLaunch> launches_;
};

/// The arguments of a kernel whose contents after a launch nobody may read. Kernels call them so.
template <class Kernel>
std::vector<std::pair<const void*, double>> scratch_of(const Kernel& kernel) {
  std::vector<std::pair<const void*, double>> ranges;
  const auto add = [&](const auto& view) { ranges.emplace_back(view.data, bytes_of(view)); };
#define KILN_ADD_SCRATCH(NAME) \
  if constexpr (requires { bytes_of(kernel.NAME); }) add(kernel.NAME);
  KILN_ADD_SCRATCH(scratch)
  KILN_ADD_SCRATCH(room)
  KILN_ADD_SCRATCH(work)
  KILN_ADD_SCRATCH(parts)
  KILN_ADD_SCRATCH(choice)
  KILN_ADD_SCRATCH(copies_before)
  KILN_ADD_SCRATCH(extra_before)
  KILN_ADD_SCRATCH(bids)
  KILN_ADD_SCRATCH(taken)
  KILN_ADD_SCRATCH(left)
  KILN_ADD_SCRATCH(barrier)
  KILN_ADD_SCRATCH(slope)
  KILN_ADD_SCRATCH(fresh)
#undef KILN_ADD_SCRATCH
  // Inside composites, and what a batched transition in one launch keeps on the chip.
  if constexpr (requires { bytes_of(kernel.improved); }) add(kernel.improved);
  if constexpr (requires { bytes_of(kernel.best.improved); }) add(kernel.best.improved);
  if constexpr (requires { bytes_of(kernel.end.best.improved); }) add(kernel.end.best.improved);
  if constexpr (requires {
                  kernel.precision;
                  bytes_of(kernel.trajectory.momentum);
                }) {
    add(kernel.trajectory.momentum);
    add(kernel.trajectory.proposal);
    add(kernel.trajectory.gradient);
  }
  return ranges;
}

template <class Kernel>
void launch_twins(const Kernel& kernel, Queue& queue) {
  auto& twins = static_cast<TwinQueue&>(queue);
  if (!twins.compares(Kernel::name)) return twins.device().launch(kernel);
  Kernel twin = kernel;
  const std::vector<TwinMemory> memories =
      twins.copy_memory(std::as_writable_bytes(std::span(&twin, 1)));
  if constexpr (ReadsModel<Kernel> || SweepsModel<Kernel>) {
    if (twins.models_ != nullptr) twins.models_->give_model(twin);
  }
  twins.device().launch(kernel);
  if (twins.within_) {
    twins.within_([&] { twins.cpu_.launch(twin); });
  } else {
    twins.cpu_.launch(twin);
  }
  twins.add({Kernel::name, accuracy_of<Kernel>()}, memories, scratch_of(kernel));
}

}  // namespace kiln::cli
