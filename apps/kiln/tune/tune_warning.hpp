// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/backend.hpp"

namespace kiln::cli {

/// Why tuned launch shapes of an open device are not used, as a line of a warning with the fix; ""
/// if all are.
std::string tuning_warning(const DeviceInfo& device);

bool has_tuned_shapes(const DeviceInfo& device);

/// "word_swap per_task=128 for 100..316, ...", or that all are defaults.
std::string tuning_text(const DeviceInfo& device);

/// What mends the complaint about tuned shapes of a device: the command that tunes it, where that
/// helps.
std::string tuning_command(const DeviceInfo& device);

}  // namespace kiln::cli
