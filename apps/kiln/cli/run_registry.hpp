// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/registry.hpp"

namespace kiln::cli {

/// The schedules and problem families of a run. If the schedule is a pipeline (PipelineText), it is
/// one of them.
/// @throws InvalidArgument with the column of what is wrong with a pipeline.
Registry run_registry(const std::string& schedule);

}  // namespace kiln::cli
