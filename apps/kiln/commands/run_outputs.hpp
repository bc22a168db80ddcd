// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/run_record.hpp"

namespace kiln::cli {

/// What kiln solve and kiln sample make of a result.
const RunOutput& solve_output();
const RunOutput& sample_output();

}  // namespace kiln::cli
