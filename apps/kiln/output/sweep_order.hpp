// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kiln/objective.hpp"

namespace kiln::cli {

/// How sweeps go through the variables of a pairwise model, and whether its runs can draw by
/// planes: sentences, one in a line. "" for other objectives.
std::string sweep_order_text(const Objective& objective);

/// The same for programs; null for other objectives.
nlohmann::ordered_json sweep_order_json(const Objective& objective);

}  // namespace kiln::cli
