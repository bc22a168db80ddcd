// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run_scratch.hpp"

#include <cstring>
#include <functional>
#include <utility>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

// Larger arrays are bound by bandwidth, and most are never read: they stay alone.
constexpr std::size_t largest_small = scratch_page_bytes / 4;
constexpr std::size_t array_alignment = 256;

}  // namespace

void* RunCore::Scratch::add(const std::string& name, const void* data, std::size_t bytes,
                            bool saved) {
  const auto [place, fresh] = places_.try_emplace(name);
  if (!fresh) throw InvalidArgument("run.scratch", "scratch '" + name + "' exists already");
  place->second.saved = saved;
  if (bytes == 0) return nullptr;
  if (bytes > largest_small) {
    DeviceArray<std::byte>& own = large_.emplace_back(queue_, static_cast<std::int64_t>(bytes));
    if (data == nullptr) {
      own.zero();
    } else {
      queue_.upload(own.data(), data, bytes);
    }
    place->second = {own.data(), bytes, saved, {}};
    return own.data();
  }
  if (pages_.empty() || pages_.back().copy.size() + bytes > scratch_page_bytes) {
    pages_.emplace_back();
    pages_.back().memory =
        DeviceArray<std::byte>(queue_, static_cast<std::int64_t>(scratch_page_bytes));
  }
  Page& page = pages_.back();
  const std::size_t offset = page.copy.size();
  page.copy.resize((offset + bytes + array_alignment - 1) / array_alignment * array_alignment);
  if (data != nullptr) {
    std::memcpy(page.copy.data() + offset, data, bytes);
    page.zeros = false;
  }
  place->second = {page.memory.data() + offset, bytes, saved, {}};
  return place->second.data;
}

void RunCore::Scratch::fill() {
  for (Page& page : pages_) {
    if (page.zeros) {
      queue_.zero(page.memory.data(), page.copy.size());
    } else {
      queue_.upload(page.memory.data(), page.copy.data(), page.copy.size());
    }
  }
}

void RunCore::Scratch::begin_report() {
  reporting_ = true;
  for (Page& page : pages_) page.fresh = false;
}

bool RunCore::Scratch::read(void* host, const void* device, std::size_t bytes) {
  const auto* const at = static_cast<const std::byte*>(device);
  for (Page& page : pages_) {
    const std::byte* const begin = page.memory.data();
    const std::less<const std::byte*> before;
    if (before(at, begin) || !before(at, begin + page.copy.size())) continue;
    // A report may launch kernels between two reads.
    const std::uint64_t launches = queue_.counters().launches;
    if (!reporting_ || !page.fresh || page.launches != launches) {
      queue_.download(page.copy.data(), begin, page.copy.size());
      page.fresh = reporting_;
      page.launches = launches;
    }
    std::memcpy(host, page.copy.data() + (at - begin), bytes);
    return true;
  }
  return false;
}

void RunCore::Scratch::save(Archive& archive) {
  begin_report();
  for (const auto& [name, place] : places_) {
    if (!place.saved) continue;
    if (archive.keep("scratch." + name, place.data, place.bytes)) continue;
    std::vector<std::byte> bytes(place.bytes);
    if (!bytes.empty() && !read(bytes.data(), place.data, place.bytes)) {
      queue_.download(bytes.data(), place.data, place.bytes);
    }
    archive.put("scratch." + name, bytes);
  }
  end_report();
}

void RunCore::Scratch::load(const Archive& archive) {
  for (const auto& [name, place] : places_) {
    if (!place.saved) continue;
    archive.restore("scratch." + name, queue_, place.data, place.bytes);
  }
}

void RunCore::Scratch::check(const std::string& name,
                             std::function<bool(std::span<const std::byte>)> holds) {
  places_.at(name).holds = std::move(holds);
}

std::string RunCore::Scratch::unsound() {
  std::vector<std::byte> bytes;
  for (const auto& [name, place] : places_) {
    if (!place.holds) continue;
    bytes.resize(place.bytes);
    if (!bytes.empty()) queue_.download(bytes.data(), place.data, place.bytes);
    if (!place.holds(bytes)) return name;
  }
  return {};
}

}  // namespace kiln
