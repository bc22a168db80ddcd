// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/device/views.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Arrays of several types in one allocation of device memory, filled from the host by one copy
/// where they are small.
///
/// add() and add_lasting() stage values and return their place; after upload() view() returns them
/// on the device.
class DeviceBundle {
 public:
  template <class T>
  struct Place {
    std::size_t index = 0;
    std::int64_t size = 0;
  };

  /// Stages a copy of the values, which upload() drops.
  template <class T, class Allocator>
  Place<T> add(const std::vector<T, Allocator>& values) {
    const auto* const bytes = bytes_of(values);
    return stage<T>(values, {bytes, bytes + values.size() * sizeof(T)}, false);
  }

  /// Stages values that stay where they are for as long as the bundle is used: the CPU reads them
  /// in place.
  template <class T, class Allocator>
  Place<T> add_lasting(const std::vector<T, Allocator>& values) {
    return stage<T>(values, {}, true);
  }

  void upload(Queue& queue) {
    std::size_t bytes = 0;
    for (Array& array : arrays_) {
      array.in_place = array.lasting && queue.on_cpu();
      if (array.in_place) continue;
      array.offset = (bytes + alignment - 1) / alignment * alignment;
      bytes = array.offset + array.bytes;
    }
    memory_ = DeviceArray<std::byte>(queue, static_cast<std::int64_t>(bytes));
    // A copy takes longer to begin than so many bytes to move.
    constexpr std::size_t max_joined_bytes = std::size_t{1} << 20;
    const bool joined = bytes <= max_joined_bytes;
    std::vector<std::byte> all(joined ? bytes : 0);
    for (Array& array : arrays_) {
      if (array.in_place || array.bytes == 0) continue;
      if (joined) {
        std::memcpy(all.data() + array.offset, array.host, array.bytes);
      } else {
        queue.upload(memory_.data() + array.offset, array.host, array.bytes);
      }
      array.copy = {};
    }
    if (joined) memory_.upload(all);
  }

  /// @pre upload() was called.
  template <class T>
  View1<T> view(const Place<T>& place) {
    if (place.size == 0) return {};
    const Array& array = arrays_[place.index];
    // Arrays in place are only read: views of models are views of constants.
    std::byte* const begin =
        array.in_place ? const_cast<std::byte*>(array.host) : memory_.data() + array.offset;
    return {reinterpret_cast<T*>(begin), place.size};
  }

 private:
  static constexpr std::size_t alignment = 256;

  struct Array {
    const std::byte* host = nullptr;
    std::vector<std::byte> copy;  // what host points to, unless the values last
    std::size_t bytes = 0;
    bool lasting = false;
    bool in_place = false;
    std::size_t offset = 0;  // in memory_, unless in place
  };

  template <class T, class Allocator>
  static const std::byte* bytes_of(const std::vector<T, Allocator>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return reinterpret_cast<const std::byte*>(values.data());
  }

  template <class T, class Allocator>
  Place<T> stage(const std::vector<T, Allocator>& values, std::vector<std::byte> copy,
                 bool lasting) {
    Array array{bytes_of(values), std::move(copy), values.size() * sizeof(T), lasting};
    if (!lasting) array.host = array.copy.data();
    arrays_.push_back(std::move(array));
    return {arrays_.size() - 1, static_cast<std::int64_t>(values.size())};
  }

  std::vector<Array> arrays_;
  DeviceArray<std::byte> memory_;
};

}  // namespace kiln
