// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "kiln/export.hpp"
#include "kiln/plugins/module_note.hpp"

namespace kiln {

/// What the user can do about a file that is refused.
struct ModuleWords {
  const char* noun;      ///< "the CUDA module"
  const char* fix;       ///< of a file that is damaged, or of another build
  const char* path_fix;  ///< of a file that is something else
  const char* area;      ///< of the codes of errors: "module"
};

/// @throws PluginError (AREA.open, AREA.owner) if the file cannot be read, or other users than this
/// one and the administrator can write to it or its folder
KILN_TEST_API void check_owner(const std::filesystem::path& path, const ModuleWords& words);

/// The note of a file; nothing if it is no library or has none.
KILN_TEST_API std::optional<ModuleNote> read_note(const std::filesystem::path& path);

/// Refuses a CUDA module that check_owner() refuses, and one whose note is not `expected`.
/// @throws PluginError (module.open, module.owner, module.entry, module.version)
KILN_TEST_API void check_module_file(const std::filesystem::path& path, const ModuleNote& expected);

}  // namespace kiln
