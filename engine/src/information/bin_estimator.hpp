// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/backend.hpp"
#include "kiln/information/information_map.hpp"
#include "kiln/information/options.hpp"

#include "columns.hpp"
#include "surrogate_plan.hpp"

namespace kiln {

/// Estimates of entropies from bins, or from values of columns with few of them, with the
/// Miller-Madow term.
/// @param columns  as they were given: equal values stay equal
std::vector<InformationEstimate> estimate_from_bins(const std::vector<Series>& columns,
                                                    const PreparedColumns& prepared,
                                                    const std::vector<InformationTask>& tasks,
                                                    const InformationOptions& options,
                                                    const SurrogatePlan& wish, Backend& backend);

}  // namespace kiln
