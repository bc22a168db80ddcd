// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/archive.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

namespace kiln {
namespace {

// Of device memory that goes to a sink or comes from a source. Smaller arrays wait for others in a
// page of the host.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;
constexpr std::size_t smallest_streamed = std::size_t{1} << 16;

// Where memory is short the last checkpoint of a run goes through less of it.
std::vector<std::byte> room_for_piece(std::size_t bytes) {
  for (bytes = std::min(bytes, piece_bytes);; bytes /= 2) {
    try {
      return std::vector<std::byte>(bytes);
    } catch (const std::bad_alloc&) {
      if (bytes <= smallest_streamed) throw;
    }
  }
}

}  // namespace

SectionSink::~SectionSink() = default;
SectionSource::~SectionSource() = default;

void Archive::put_bytes(const std::string& name, const void* data, std::size_t bytes) {
  if (source_ != nullptr) throw std::logic_error("Archive: a source is only read");
  if (sink_ != nullptr) {
    sink_->begin(name, bytes);
    if (bytes > 0) sink_->add(data, bytes);
    return;
  }
  const auto* const begin = static_cast<const std::byte*>(data);
  sections_[name].assign(begin, begin + bytes);
  device_sections_.erase(name);  // the later one replaces the earlier one, wherever that lies
}

bool Archive::keep(const std::string& name, const void* memory, std::size_t bytes) {
  if (queue_ == nullptr || bytes == 0) return false;
  if (sink_ != nullptr) {
    if (bytes < smallest_streamed) return false;
    sink_->begin(name, bytes);
    std::vector<std::byte> piece = room_for_piece(bytes);
    const std::size_t most = piece.size();
    for (std::size_t at = 0; at < bytes; at += piece.size()) {
      piece.resize(std::min(bytes - at, most));
      queue_->download(piece.data(), static_cast<const std::byte*>(memory) + at, piece.size());
      sink_->add(piece.data(), piece.size());
    }
    return true;
  }
  const MemoryScope scope(*queue_, MemoryOwner::copies);
  try {
    DeviceArray<std::byte> copy(*queue_, static_cast<std::int64_t>(bytes));
    queue_->copy(copy.data(), memory, bytes);
    device_sections_.insert_or_assign(name, std::move(copy));
    sections_.erase(name);
    return true;
  } catch (const OutOfDeviceMemory&) {
    return false;  // the host has room
  }
}

bool Archive::give_back(const std::string& name, void* memory, std::size_t bytes) const {
  if (source_ != nullptr) {
    if (size_of(name) != bytes) wrong_size(name);
    auto* to = static_cast<std::byte*>(memory);
    source_->read(name, [&](const void* data, std::size_t size) {
      queue_->upload(to, data, size);
      to += size;
    });
    return true;
  }
  const auto found = device_sections_.find(name);
  if (found == device_sections_.end()) return false;
  if (found->second.bytes() != bytes) wrong_size(name);
  queue_->copy(memory, found->second.data(), bytes);
  return true;
}

void Archive::restore(const std::string& name, Queue& queue, void* memory,
                      std::size_t bytes) const {
  if (give_back(name, memory, bytes)) return;
  if (size_of(name) != bytes) wrong_size(name);
  if (bytes > 0) queue.upload(memory, sections_.at(name).data(), bytes);
}

bool Archive::has(const std::string& name) const {
  if (source_ != nullptr) return source_->bytes_of(name).has_value();
  return sections_.contains(name) || device_sections_.contains(name);
}

std::size_t Archive::size_of(const std::string& name) const {
  if (source_ != nullptr) {
    if (const auto bytes = source_->bytes_of(name)) return *bytes;
  } else if (const auto found = sections_.find(name); found != sections_.end()) {
    return found->second.size();
  }
  throw InvalidArgument("archive.missing", "the archive has no section '" + name + "'",
                        "another schedule or another version of Kiln saved the archive");
}

// `to` has room for size_of(name).
void Archive::get_bytes(const std::string& name, void* to) const {
  if (source_ == nullptr) {
    const std::vector<std::byte>& bytes = sections_.at(name);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return;
  }
  auto* at = static_cast<std::byte*>(to);
  source_->read(name, [&](const void* data, std::size_t size) {
    std::memcpy(at, data, size);
    at += size;
  });
}

void Archive::wrong_size(const std::string& name) {
  throw InvalidArgument("archive.size", "section '" + name + "' of the archive has the wrong size",
                        "replicas, groups and problem must equal those of the saved run");
}

}  // namespace kiln
