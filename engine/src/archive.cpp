// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/archive.hpp"

#include <cstdint>
#include <utility>

namespace kiln {

bool Archive::keep(const std::string& name, const void* memory, std::size_t bytes) {
  if (queue_ == nullptr || bytes == 0) return false;
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
  const auto found = device_sections_.find(name);
  if (found == device_sections_.end()) return false;
  if (found->second.bytes() != bytes) wrong_size(name);
  queue_->copy(memory, found->second.data(), bytes);
  return true;
}

const std::vector<std::byte>& Archive::section(const std::string& name) const {
  const auto found = sections_.find(name);
  if (found == sections_.end()) {
    throw InvalidArgument("archive.missing", "the archive has no section '" + name + "'",
                          "another schedule or another version of Kiln saved the archive");
  }
  return found->second;
}

void Archive::wrong_size(const std::string& name) {
  throw InvalidArgument("archive.size", "section '" + name + "' of the archive has the wrong size",
                        "replicas, groups and problem must equal those of the saved run");
}

}  // namespace kiln
