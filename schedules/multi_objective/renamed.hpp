// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kiln/registry.hpp"

namespace kiln {

/// Parameters of schedule `multi-objective` of version 0.1 as those of the schedule that its
/// `strategy` is now; nothing where all of them are parameters of `evolutionary`.
std::optional<RenamedSchedule> renamed_multi_objective(
    const std::map<std::string, std::string>& texts);

/// Evaluations of so many batches; 2^53 if there are more.
std::int64_t evaluations_in(std::int64_t batches, std::int64_t batch);

}  // namespace kiln
