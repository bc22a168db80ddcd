// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "profile/profiler.hpp"
#include "run_core.hpp"

namespace kiln {

/// What watches the launches of a run, where something does.
struct RunCore::Instruments {
  std::optional<LaunchTracer> launch_tracer;
  std::optional<Profiler> profiler;
};

}  // namespace kiln
