// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/cost/memory_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

std::string owners_text(const OwnedBytes& bytes) {
  std::string text;
  for (const MemoryOwner owner : all_memory_owners()) {
    if (bytes[owner] == 0 || owner == MemoryOwner::copies) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(owner),
                        human_bytes(bytes[owner]));
  }
  return text;
}

std::string memory_text(const MemoryMap& memory) {
  Rows rows{{"memory of", "planned", "peak", "at the end"}};
  for (const MemoryOwner owner : all_memory_owners()) {
    if (memory.planned[owner] + memory.peak[owner] == 0) continue;
    rows.push_back({to_string(owner), human_bytes(memory.planned[owner]),
                    human_bytes(memory.peak[owner]), human_bytes(memory.now[owner])});
  }
  rows.push_back({"all but copies", human_bytes(memory.planned_bytes),
                  human_bytes(memory.peak_bytes),
                  human_bytes(memory.bytes - memory.now[MemoryOwner::copies])});
  std::string largest;
  for (const MemoryMap::Piece& piece : memory.largest) {
    largest += fmt::format("{}{} {}", largest.empty() ? "" : ", ", to_string(piece.owner),
                           human_bytes(piece.bytes));
  }
  const ArenaState& arena = memory.arena;
  return table_text(rows, 1) + fmt::format("largest      {}\n", largest) +
         fmt::format(
             "arena        {} of {} arrays came from memory that was there; {} reserved, "
             "{:.0f} % of what is free in other pieces than the largest\n",
             memory.arrays - std::min(memory.arrays, arena.driver_calls), memory.arrays,
             human_bytes(arena.reserved_bytes), 100 * arena.fragmentation());
}

}  // namespace kiln::cli
