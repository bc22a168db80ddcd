// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "kiln/memory/memory_map.hpp"

namespace kiln {

/// The member `memory` of `kiln.result/2`.
nlohmann::ordered_json memory_json(const MemoryMap& memory);

}  // namespace kiln
