// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kiln/statistics/draw_conditions.hpp"
#include "kiln/statistics/sample.hpp"
#include "kiln/statistics/sample_summary.hpp"

namespace kiln {

/// The object "sample" of kiln.result/2. Unknown numbers are null.
nlohmann::ordered_json sample_json(const Sample& sample, const SampleSummary& summary);

/// The object "until" of kiln.result/2.
nlohmann::ordered_json until_json(const JudgedConditions& until);

/// The list "summary" of kiln.result/2: an object for each quantity.
nlohmann::ordered_json quantities_json(const SampleSummary& summary);

}  // namespace kiln
