// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/settings.hpp"

namespace kiln::cli {

/// TelemetryLevel
ReadOption telemetry_level();

/// What the options say of telemetry and incumbents: with a run folder, level summary is the
/// default. @throws InvalidArgument for a level or for solutions that need a run folder
void fill_telemetry(CommandOptions& options);

}  // namespace kiln::cli
