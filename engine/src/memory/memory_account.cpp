// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/memory/memory_account.hpp"

#include <algorithm>
#include <vector>

namespace kiln {

const char* to_string(MemoryOwner owner) noexcept {
  switch (owner) {
    case MemoryOwner::engine:
      return "engine";
    case MemoryOwner::batch:
      return "batch";
    case MemoryOwner::problem:
      return "problem";
    case MemoryOwner::schedule:
      return "schedule";
    case MemoryOwner::copies:
      return "copies";
  }
  return "?";
}

const std::array<MemoryOwner, memory_owners>& all_memory_owners() noexcept {
  static constexpr std::array<MemoryOwner, memory_owners> all{
      MemoryOwner::batch, MemoryOwner::problem, MemoryOwner::schedule, MemoryOwner::engine,
      MemoryOwner::copies};
  return all;
}

void MemoryAccount::add(std::uint64_t bytes, MemoryOwner owner) noexcept {
  now_[owner] += bytes;
  peaks_[owner] = std::max(peaks_[owner], now_[owner]);
  const std::uint64_t bytes_now = now_.sum() - now_[MemoryOwner::copies];
  if (bytes_now <= peak_bytes_) return;
  peak_bytes_ = bytes_now;
  at_peak_ = now_;
}

void MemoryAccount::take(const void* memory, std::uint64_t bytes, MemoryOwner owner) {
  if (memory == nullptr || bytes == 0) return;
  const std::lock_guard lock(mutex_);
  live_.insert_or_assign(memory, MemoryMap::Piece{owner, device_lines(bytes)});
  ++arrays_;
  add(device_lines(bytes), owner);
}

void MemoryAccount::give(const void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(memory);
  if (found == live_.end()) return;
  now_[found->second.owner] -= found->second.bytes;
  live_.erase(found);
}

void MemoryAccount::plan(std::uint64_t bytes, MemoryOwner owner) {
  const std::lock_guard lock(mutex_);
  add(bytes, owner);
}

void MemoryAccount::take_pinned(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  pinned_ += bytes;
  pinned_peak_ = std::max(pinned_peak_, pinned_);
}

void MemoryAccount::give_pinned(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  pinned_ -= bytes;
}

OwnedBytes MemoryAccount::at_peak() const noexcept {
  const std::lock_guard lock(mutex_);
  return at_peak_;
}

OwnedBytes MemoryAccount::now() const noexcept {
  const std::lock_guard lock(mutex_);
  return now_;
}

MemoryMap MemoryAccount::map() const {
  constexpr std::size_t most = 8;
  const std::lock_guard lock(mutex_);
  MemoryMap map;
  map.bytes = now_.sum();
  map.peak_bytes = peak_bytes_;
  map.now = now_;
  map.peak = peaks_;
  map.pinned_bytes = pinned_peak_;
  map.arrays = arrays_;
  map.largest.reserve(live_.size());
  for (const auto& [memory, piece] : live_) map.largest.push_back(piece);
  std::ranges::sort(map.largest, [](const auto& a, const auto& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.owner < b.owner;
  });
  map.largest.resize(std::min(most, map.largest.size()));
  return map;
}

}  // namespace kiln
