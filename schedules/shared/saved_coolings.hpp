// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/kernels/sweeps/temperature_update.hpp"
#include "kiln/run_context.hpp"

namespace kiln {

/// Says what saved coolings of a scratch array always are: as they began in what no round changes,
/// and within their round.
/// @param initial  of each group
/// @param window   sweeps whose acceptance is kept
void require_saved_coolings(AllocateContext& run, const std::string& name,
                            std::vector<Cooling> initial, std::int64_t window);

}  // namespace kiln
