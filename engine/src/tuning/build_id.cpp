// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuning/build_id.hpp"

#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kiln {
namespace {

struct Wanted {
  std::uintptr_t address = 0;
  std::string id{};
};

bool holds(const dl_phdr_info& info, std::uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz) return true;
  }
  return false;
}

// Notes follow each other, each part padded to four bytes.
std::string id_in_notes(const char* at, const char* end) {
  const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const std::size_t name = padded(note.n_namesz), text = padded(note.n_descsz);
    const char* const owner = at + sizeof note;
    if (static_cast<std::size_t>(end - owner) < name + text) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(owner, "GNU", 4) == 0) {
      std::string digits;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        digits += fmt::format("{:02x}", static_cast<unsigned char>(owner[name + i]));
      }
      return digits;
    }
    at = owner + name + text;
  }
  return {};
}

int look(dl_phdr_info* info, std::size_t /*size*/, void* wanted_of) {
  auto& wanted = *static_cast<Wanted*>(wanted_of);
  if (!holds(*info, wanted.address)) return 0;
  for (int i = 0; i < info->dlpi_phnum && wanted.id.empty(); ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
    wanted.id = id_in_notes(notes, notes + part.p_memsz);
  }
  return 1;
}

}  // namespace

std::string build_id_of(const void* object) {
  Wanted wanted{reinterpret_cast<std::uintptr_t>(object)};
  dl_iterate_phdr(&look, &wanted);
  return wanted.id;
}

}  // namespace kiln
