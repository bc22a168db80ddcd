// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_json.hpp"

namespace kiln {

nlohmann::ordered_json memory_json(const MemoryMap& memory) {
  nlohmann::ordered_json owners = nlohmann::ordered_json::array();
  for (const MemoryOwner owner : all_memory_owners()) {
    owners.push_back({{"owner", to_string(owner)},
                      {"bytes", memory.now[owner]},
                      {"peak_bytes", memory.peak[owner]},
                      {"planned_bytes", memory.planned[owner]}});
  }
  nlohmann::ordered_json largest = nlohmann::ordered_json::array();
  for (const MemoryMap::Piece& piece : memory.largest) {
    largest.push_back({{"owner", to_string(piece.owner)}, {"bytes", piece.bytes}});
  }
  return {{"peak_bytes", memory.peak_bytes},
          {"planned_bytes", memory.planned_bytes},
          {"bytes", memory.bytes},
          {"owners", owners},
          {"largest", largest},
          {"pinned_bytes", memory.pinned_bytes},
          {"reserved_bytes", memory.arena.reserved_bytes},
          {"fragmentation", memory.arena.fragmentation()},
          {"arrays", memory.arrays},
          {"driver_calls", memory.arena.driver_calls},
          {"reuse", memory.reuse()}};
}

}  // namespace kiln
