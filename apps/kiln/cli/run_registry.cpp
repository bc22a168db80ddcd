// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/run_registry.hpp"

#include "kiln/schedules/pipeline.hpp"

#include "cli/plugin_option.hpp"

namespace kiln::cli {

Registry run_registry(const std::string& schedule) {
  Registry registry = known_registry();
  if (PipelineText::is_one(schedule)) {
    registry.add(PipelineText(schedule, registry).entry());
  }
  return registry;
}

}  // namespace kiln::cli
