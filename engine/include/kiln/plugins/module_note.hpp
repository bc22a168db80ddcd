// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kiln {

/// What a library is that libkiln opens at run time.
enum class ModuleKind : std::uint32_t { cuda_module = 1, plugin = 2 };

/// The description of such a library in the section `.note.kiln` of its file, checked before any of
/// its code runs: opening a library runs its constructors.
struct ModuleNote {
  std::uint32_t name_size = sizeof(name);
  std::uint32_t content_size = sizeof(abi) + sizeof(struct_size) + sizeof(fingerprint_low) +
                               sizeof(fingerprint_high) + sizeof(version);
  ModuleKind kind = ModuleKind::cuda_module;
  char name[8] = "Kiln";
  std::uint32_t abi = 0;
  std::uint32_t struct_size = 0;
  std::uint32_t fingerprint_low = 0;  // halves: notes are aligned to four bytes
  std::uint32_t fingerprint_high = 0;
  char version[16] = {};

  bool operator==(const ModuleNote&) const = default;
};

/// The note of a library of Kiln's `version` (at most 15 characters) and `fingerprint`.
constexpr ModuleNote module_note(std::uint32_t abi, std::uint32_t struct_size,
                                 std::uint64_t fingerprint, std::string_view version,
                                 ModuleKind kind = ModuleKind::cuda_module) {
  ModuleNote note;
  note.kind = kind;
  note.abi = abi;
  note.struct_size = struct_size;
  note.fingerprint_low = static_cast<std::uint32_t>(fingerprint);
  note.fingerprint_high = static_cast<std::uint32_t>(fingerprint >> 32);
  for (std::size_t k = 0; k < version.size() && k + 1 < sizeof note.version; ++k) {
    note.version[k] = version[k];
  }
  return note;
}

}  // namespace kiln
