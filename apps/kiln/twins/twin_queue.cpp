// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "twins/twin_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>

namespace kiln::cli {
namespace {

struct TwinLaunchers {
  template <class Kernel>
  static constexpr Launcher<Kernel> launcher = &launch_twins<Kernel>;
};

}  // namespace

TwinQueue::TwinQueue(Queue& device, Queue& cpu, const ModelQueue* models)
    : ForwardingQueue(kernel_sets_of<TwinLaunchers>(Components{}), device),
      cpu_(cpu),
      models_(models) {}

std::vector<TwinLaunch> TwinQueue::compare(std::string_view kernel, std::size_t most,
                                           const std::function<void()>& work) {
  launches_.clear();
  compared_ = kernel;
  most_ = most;
  const auto end = [&](void*) { compared_ = {}; };
  const std::unique_ptr<void, decltype(end)> until_it_returns(this, end);
  work();
  return std::move(launches_);
}

void* TwinQueue::do_allocate(std::size_t bytes) {
  void* const memory = ForwardingQueue::do_allocate(bytes);
  auto* const first = static_cast<std::byte*>(memory);
  allocations_[first] = bytes;
  if (!fills_) return memory;
  const std::vector<std::byte> pattern(std::min<std::size_t>(bytes, 1 << 16), std::byte{0xA5});
  device().upload(first, pattern.data(), pattern.size());
  for (std::size_t done = pattern.size(); done < bytes;) {
    const std::size_t more = std::min(done, bytes - done);
    device().copy(first + done, first, more);
    done += more;
  }
  return memory;
}

TwinQueue::Contents TwinQueue::contents() {
  Contents all;
  for (const auto& [first, bytes] : allocations_) {
    all.emplace_back(first, std::vector<std::byte>(bytes));
    device().download(all.back().second.data(), first, bytes);
  }
  return all;
}

void TwinQueue::restore(const Contents& contents) {
  for (const auto& [first, bytes] : contents) device().upload(first, bytes.data(), bytes.size());
}

void TwinQueue::do_deallocate(void* memory, std::size_t bytes) noexcept {
  allocations_.erase(static_cast<std::byte*>(memory));
  ForwardingQueue::do_deallocate(memory, bytes);
}

std::vector<TwinMemory> TwinQueue::copy_memory(std::span<std::byte> arguments) {
  std::vector<TwinMemory> memories;
  for (std::size_t at = 0; at + sizeof(void*) <= arguments.size(); at += sizeof(void*)) {
    std::byte* pointer = nullptr;
    std::memcpy(&pointer, arguments.data() + at, sizeof pointer);
    const auto above = allocations_.upper_bound(pointer);
    if (above == allocations_.begin()) continue;
    const auto& [first, bytes] = *std::prev(above);
    if (pointer >= first + bytes) continue;
    auto known = std::ranges::find(memories, first, &TwinMemory::device);
    if (known == memories.end()) {
      TwinMemory memory{first, std::vector<std::byte>(bytes), {}};
      device().download(memory.before.data(), first, bytes);
      memory.twin = DeviceArray<std::byte>(cpu_, memory.before);
      known = memories.insert(memories.end(), std::move(memory));
    }
    std::byte* const copy = known->twin.data() + (pointer - first);
    std::memcpy(arguments.data() + at, &copy, sizeof copy);
  }
  return memories;
}

// What lies in scratch is taken from the device, so that it is equal.
void TwinQueue::add(TwinLaunch launch, const std::vector<TwinMemory>& memories,
                    const Ranges& scratch) {
  for (const TwinMemory& memory : memories) {
    std::vector<std::byte> after(memory.before.size()), twin = memory.twin.download();
    device().download(after.data(), memory.device, after.size());
    for (const auto& [first, bytes] : scratch) {
      const std::ptrdiff_t begin = static_cast<const std::byte*>(first) - memory.device;
      if (begin < 0 || begin >= std::ssize(after)) continue;
      const std::size_t count = std::min(static_cast<std::size_t>(bytes), after.size() - begin);
      std::memcpy(twin.data() + begin, after.data() + begin, count);
    }
    launch.written += difference_of(memory.before, after).unequal;
    launch.difference += difference_of(after, twin);
  }
  launches_.push_back(std::move(launch));
}

}  // namespace kiln::cli
