// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace kiln::cli {

enum class Existing { replace, refuse };

/// Writes a file whole or not at all: into a temporary file of the same folder, which is
/// synchronised and then renamed; the folder is synchronised last. No link is followed.
///
/// @throws IoError `io.exists` if the file is there and must not be replaced, `io.write` with the
///   system's reason otherwise; the old file, if any, is unchanged and nothing new is left.
void write_file(const std::filesystem::path& path, std::string_view content,
                Existing existing = Existing::replace);

/// Whether a file can be made in a folder, found out by making one. @throws IoError
void check_writable(const std::filesystem::path& folder);

}  // namespace kiln::cli
