// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "kiln/export.hpp"

namespace kiln {

/// The folder where Kiln keeps what it can make again: KILN_CACHE_DIR, else XDG_CACHE_HOME/kiln,
/// else ~/.cache/kiln; empty if none of these variables is set. It need not exist.
KILN_API std::filesystem::path user_cache_folder();

}  // namespace kiln
