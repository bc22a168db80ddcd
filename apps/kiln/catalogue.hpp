// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"

namespace kiln::cli {

// What this build knows, as `list`, `describe` and the help show it.

nlohmann::ordered_json json_of(const ScheduleEntry& entry);
nlohmann::ordered_json json_of(const ProblemEntry& entry);
nlohmann::ordered_json json_of(const FormatInfo& info);

/// "torus:AxB,SEED", or "k2000" without parameters.
std::string pattern_of(const ProblemEntry& entry);

/// Parameters with type, unit, range, default and sentence, two columns wide.
std::string fields_text(const std::vector<FieldInfo>& fields);

}  // namespace kiln::cli
