// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/export.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Named arrays of plain values in memory: schedules save their state in it, runs continue from it.
class KILN_API Archive {
 public:
  /// Keeps everything in host memory.
  Archive() = default;
  /// Keeps device arrays on the queue's device, or in host memory where the device has no room, as
  /// a copy to return to. The queue must outlive it.
  explicit Archive(Queue& queue) : queue_(&queue) {}

  template <class T>
  void put(const std::string& name, const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    sections_[name].assign(bytes, bytes + values.size() * sizeof(T));
    device_sections_.erase(name);  // the later one replaces the earlier one, wherever that lies
  }
  template <class T>
  void put_value(const std::string& name, const T& value) {
    put(name, std::vector<T>{value});
  }

  template <class T>
  void put(const std::string& name, const DeviceArray<T>& array) {
    if (!keep(name, array.data(), array.bytes())) put(name, array.download());
  }

  /// Copies device memory within the device; false: this archive or this array belongs on the host.
  bool keep(const std::string& name, const void* memory, std::size_t bytes);

  /// @throws InvalidArgument if there is no such section or its size differs.
  template <class T>
  std::vector<T> get(const std::string& name) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::vector<std::byte>& bytes = section(name);
    if (bytes.size() % sizeof(T) != 0) wrong_size(name);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  template <class T>
  T get_value(const std::string& name) const {
    const std::vector<T> values = get<T>(name);
    if (values.size() != 1) wrong_size(name);
    return values.front();
  }
  /// Fills a device array of exactly the saved size.
  template <class T>
  void restore(const std::string& name, DeviceArray<T>& array) const {
    if (give_back(name, array.data(), array.bytes())) return;
    const std::vector<T> values = get<T>(name);
    if (static_cast<std::int64_t>(values.size()) != array.size()) wrong_size(name);
    array.upload(values);
  }

  /// Fills `bytes` bytes of device memory of a queue, exactly what was saved.
  void restore(const std::string& name, Queue& queue, void* memory, std::size_t bytes) const {
    if (give_back(name, memory, bytes)) return;
    const std::vector<std::byte>& values = section(name);
    if (values.size() != bytes) wrong_size(name);
    if (bytes > 0) queue.upload(memory, values.data(), bytes);
  }

  bool has(const std::string& name) const {
    return sections_.contains(name) || device_sections_.contains(name);
  }
  /// The sections in host memory.
  const std::map<std::string, std::vector<std::byte>>& sections() const { return sections_; }

 private:
  bool give_back(const std::string& name, void* memory, std::size_t bytes) const;
  const std::vector<std::byte>& section(const std::string& name) const;
  [[noreturn]] static void wrong_size(const std::string& name);
  Queue* queue_ = nullptr;
  std::map<std::string, std::vector<std::byte>> sections_;
  std::map<std::string, DeviceArray<std::byte>> device_sections_;
};

}  // namespace kiln
