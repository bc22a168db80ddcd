// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/export.hpp"
#include "kiln/function_ref.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Where an archive puts sections one after another, instead of keeping them.
class KILN_API SectionSink {
 public:
  virtual ~SectionSink();
  /// A section begins: so many bytes follow in calls of add().
  virtual void begin(const std::string& name, std::uint64_t bytes) = 0;
  virtual void add(const void* data, std::size_t bytes) = 0;
};

/// Where an archive finds sections that it does not keep.
class KILN_API SectionSource {
 public:
  virtual ~SectionSource();
  /// The size of a section; nothing if there is no such section.
  virtual std::optional<std::uint64_t> bytes_of(const std::string& name) const = 0;
  /// Gives all bytes of a section in order, in pieces.
  virtual void read(const std::string& name,
                    FunctionRef<void(const void*, std::size_t)> take) const = 0;
};

/// Named arrays of plain values: schedules save their state in it, runs continue from it.
class KILN_API Archive {
 public:
  /// Keeps everything in host memory.
  Archive() = default;
  /// Keeps device arrays on the queue's device, or in host memory where the device has no room, as
  /// a copy to return to. The queue must outlive it.
  explicit Archive(Queue& queue) : queue_(&queue) {}
  /// Keeps nothing: what is put goes to the sink at once, device arrays of the queue piece by
  /// piece. A name can be put once. Both must outlive it.
  Archive(Queue& queue, SectionSink& sink) : queue_(&queue), sink_(&sink) {}
  /// To read alone, from a source; device arrays are filled piece by piece. Both must outlive it.
  Archive(Queue& queue, const SectionSource& source) : queue_(&queue), source_(&source) {}

  template <class T>
  void put(const std::string& name, const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(name, values.data(), values.size() * sizeof(T));
  }
  template <class T>
  void put_value(const std::string& name, const T& value) {
    put(name, std::vector<T>{value});
  }

  template <class T>
  void put(const std::string& name, const DeviceArray<T>& array) {
    if (!keep(name, array.data(), array.bytes())) put(name, array.download());
  }

  /// Takes device memory without a copy in host memory; false: this archive or this array wants
  /// one.
  bool keep(const std::string& name, const void* memory, std::size_t bytes);

  /// @throws InvalidArgument if there is no such section or its size differs.
  template <class T>
  std::vector<T> get(const std::string& name) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t bytes = size_of(name);
    if (bytes % sizeof(T) != 0) wrong_size(name);
    std::vector<T> values(bytes / sizeof(T));
    get_bytes(name, values.data());
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
  void restore(const std::string& name, Queue& queue, void* memory, std::size_t bytes) const;

  bool has(const std::string& name) const;
  /// The sections in host memory.
  const std::map<std::string, std::vector<std::byte>>& sections() const { return sections_; }

 private:
  void put_bytes(const std::string& name, const void* data, std::size_t bytes);
  std::size_t size_of(const std::string& name) const;
  void get_bytes(const std::string& name, void* to) const;
  bool give_back(const std::string& name, void* memory, std::size_t bytes) const;
  [[noreturn]] static void wrong_size(const std::string& name);
  Queue* queue_ = nullptr;
  SectionSink* sink_ = nullptr;
  const SectionSource* source_ = nullptr;
  std::map<std::string, std::vector<std::byte>> sections_;
  std::map<std::string, DeviceArray<std::byte>> device_sections_;
};

}  // namespace kiln
