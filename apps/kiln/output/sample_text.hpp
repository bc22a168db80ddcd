// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kiln/statistics/draw_conditions.hpp"

namespace kiln::cli {

/// A result of a sampling run for people, from its document kiln.result/2: a table of the
/// quantities, how the draws are, how they were made, and how fast.
///
/// @param whole  all quantities, however many there are.
/// @throws nlohmann::json::exception if something is missing or of another type.
std::string sample_text(const nlohmann::json& result, bool whole, std::size_t columns = 79);

/// The lines "until": a condition on the draws each, its value and whether it is met; "" without
/// conditions.
std::string until_text(const JudgedConditions& until);

/// "4 chains x 1000 draws after 1000 of warm-up"
std::string draws_text(const nlohmann::json& sample);

}  // namespace kiln::cli
