// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kiln/device/views.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Arrays of several types in one allocation of device memory, filled from the host by one copy
/// where they are small.
///
/// add() stages values and returns their place; after upload() view() returns them on the device.
/// The staged copy is then dropped.
class DeviceBundle {
 public:
  template <class T>
  struct Place {
    std::size_t offset = 0;
    std::int64_t size = 0;
  };

  template <class T>
  Place<T> add(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t offset = (bytes_ + alignment - 1) / alignment * alignment;
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    staged_.push_back({offset, {bytes, bytes + values.size() * sizeof(T)}});
    bytes_ = offset + values.size() * sizeof(T);
    return {offset, static_cast<std::int64_t>(values.size())};
  }

  void upload(Queue& queue) {
    memory_ = DeviceArray<std::byte>(queue, static_cast<std::int64_t>(bytes_));
    if (bytes_ <= max_joined_bytes) {
      std::vector<std::byte> joined(bytes_);
      for (const Staged& array : staged_)
        std::ranges::copy(array.bytes, joined.begin() + array.at());
      memory_.upload(joined);
    } else {
      for (const Staged& array : staged_) {
        if (array.bytes.empty()) continue;
        queue.upload(memory_.data() + array.offset, array.bytes.data(), array.bytes.size());
      }
    }
    staged_ = {};
  }

  template <class T>
  View1<T> view(const Place<T>& place) {
    if (place.size == 0) return {};
    return {reinterpret_cast<T*>(memory_.data() + place.offset), place.size};
  }

 private:
  static constexpr std::size_t alignment = 256;

  // A copy takes longer to begin than so many bytes to move.
  static constexpr std::size_t max_joined_bytes = std::size_t{1} << 20;

  struct Staged {
    std::size_t offset;
    std::vector<std::byte> bytes;
    std::ptrdiff_t at() const { return static_cast<std::ptrdiff_t>(offset); }
  };
  std::vector<Staged> staged_;
  std::size_t bytes_ = 0;
  DeviceArray<std::byte> memory_;
};

}  // namespace kiln
