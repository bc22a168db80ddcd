// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln::cli {

/// "sm_80, sm_90"
std::string architectures_text(const std::vector<int>& architectures);

/// Those of `compiled` that are not in `tested`.
std::vector<int> never_run(const std::vector<int>& compiled, const std::vector<int>& tested);

}  // namespace kiln::cli
