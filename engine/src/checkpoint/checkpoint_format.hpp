// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What writer and reader of checkpoints share; docs/checkpoint_format.md describes the layout.
namespace kiln::checkpoint_format {

static_assert(std::endian::native == std::endian::little, "numbers lie in the file as they are");

inline constexpr std::array<unsigned char, 8> magic{0x89, 'K', 'I', 'L', 'N', 'C', 'P', '\n'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t block_bytes = std::size_t{1} << 20;
inline constexpr std::size_t longest_name = 255;
inline constexpr std::size_t most_sections = 100000;
/// Of texts about the run and of notes, together.
inline constexpr std::size_t most_text_bytes = std::size_t{1} << 24;

inline constexpr char section_tag = 'S', block_tag = 'B', end_tag = 'E';

// Names of the sections that are no part of the state.
inline constexpr const char *fields_section = "fields", *notes_section = "notes",
                            *clock_section = "clock";
/// Before the names of those that are.
inline constexpr std::string_view state_prefix = "run/";

/// How a run stands with the clock, and what else no archive has.
struct Clock {
  std::uint64_t steps = 0;
  double run_s = 0;
  double to_best_s = 0;
  std::uint32_t ends_with_budget = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Clock) == 32);

using Texts = std::vector<std::pair<std::string, std::string>>;

/// count, then length and bytes of each name and each value: u32 all of them.
inline std::vector<std::byte> pack(const Texts& texts) {
  std::vector<std::byte> bytes;
  const auto add = [&](const void* data, std::size_t size) {
    const auto* const begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  const auto add_number = [&](std::size_t value) {
    const auto number = static_cast<std::uint32_t>(value);
    add(&number, sizeof number);
  };
  add_number(texts.size());
  for (const auto& [name, value] : texts) {
    for (const std::string* text : {&name, &value}) {
      add_number(text->size());
      add(text->data(), text->size());
    }
  }
  return bytes;
}

/// The same backwards; false where the bytes are none of pack().
inline bool unpack(const std::vector<std::byte>& bytes, Texts& texts) {
  std::size_t at = 0;
  const auto take_number = [&](std::uint32_t& value) {
    if (bytes.size() - at < sizeof value) return false;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return true;
  };
  const auto take_text = [&](std::string& text) {
    std::uint32_t size = 0;
    if (!take_number(size) || bytes.size() - at < size) return false;
    text.assign(reinterpret_cast<const char*>(bytes.data()) + at, size);
    at += size;
    return true;
  };
  std::uint32_t count = 0;
  if (!take_number(count)) return false;
  texts.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    std::pair<std::string, std::string> one;
    if (!take_text(one.first) || !take_text(one.second)) return false;
    texts.push_back(std::move(one));
  }
  return at == bytes.size();
}

}  // namespace kiln::checkpoint_format
