// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kiln/device/views.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Arrays of several types in one allocation of device memory, filled from the host by one copy.
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
    const std::size_t offset = (staged_.size() + alignment - 1) / alignment * alignment;
    staged_.resize(offset + values.size() * sizeof(T));
    if (!values.empty()) {
      std::memcpy(staged_.data() + offset, values.data(), values.size() * sizeof(T));
    }
    return {offset, static_cast<std::int64_t>(values.size())};
  }

  void upload(Queue& queue) {
    memory_ = DeviceArray<std::byte>(queue, staged_);
    staged_ = {};
  }

  template <class T>
  View1<T> view(const Place<T>& place) {
    if (place.size == 0) return {};
    return {reinterpret_cast<T*>(memory_.data() + place.offset), place.size};
  }

 private:
  static constexpr std::size_t alignment = 256;

  std::vector<std::byte> staged_;
  DeviceArray<std::byte> memory_;
};

}  // namespace kiln
