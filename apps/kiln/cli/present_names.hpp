// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/registry.hpp"

#include "cli/settings.hpp"

namespace kiln::cli {

/// Replaces the names that version 0.1 had for the schedule and its parameters by the present ones,
/// and notes each in CommandOptions::renamed. The schedule may become another one.
void take_present_names(CommandOptions& options, const Registry& registry);

/// One warning with all names that were replaced; "" if there are none.
std::string renamed_warning(const CommandOptions& options);

}  // namespace kiln::cli
