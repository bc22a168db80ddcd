// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/backend.hpp"
#include "kiln/run.hpp"

namespace kiln {

/// @param waits_for_host  whether the ticks of the run do
/// @throws InvalidArgument for an executor that the run cannot have
void check_executor(const RunOptions& options, const DeviceInfo& device, bool waits_for_host);

}  // namespace kiln
