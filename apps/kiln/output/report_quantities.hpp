// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "output/solve_text.hpp"

namespace kiln::cli {

/// Which of the numbers of a report point the schedule of the run has, by their names in
/// ReportPoint: "mean", "acceptance_rate", "beta", "attempts_per_ns". The others stand at 0 there.
std::vector<std::string> report_quantities(const RunFacts& facts);

}  // namespace kiln::cli
