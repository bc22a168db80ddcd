// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/memory/memory_map.hpp"
#include "kiln/plan.hpp"

namespace kiln::cli {

/// What each owner will take, as a table.
std::string planned_memory_text(const RunPlan& plan);

/// What each owner took, what was planned, and how the memory lies: a table and two lines.
std::string memory_text(const MemoryMap& memory);

}  // namespace kiln::cli
