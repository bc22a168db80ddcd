// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/memory/memory_map.hpp"

namespace kiln::cli {

/// What each owner takes, without copies: "batch 5.0 KiB, schedule 256.0 KiB".
std::string owners_text(const OwnedBytes& bytes);

/// What each owner took, what was planned, and how the memory lies: a table and two lines.
std::string memory_text(const MemoryMap& memory);

}  // namespace kiln::cli
