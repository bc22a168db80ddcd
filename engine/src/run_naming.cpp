// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the load of a run with another naming of draws needs.
#include "kiln/archive.hpp"
#include "kiln/errors.hpp"

#include "plan_naming.hpp"
#include "run_core.hpp"
#include "run_parts.hpp"

namespace kiln {

// Archives of versions that had only one naming do not say which.
DrawNaming RunCore::naming_of(const Archive& archive) {
  constexpr const char* section = "run.draw_naming";
  if (!archive.has(section)) return DrawNaming::words;
  const auto naming = archive.get_value<DrawNaming>(section);
  if (naming <= DrawNaming::shared) return naming;
  throw InvalidArgument("run.draw_naming",
                        "the archive names its draws in a way that this version does not know",
                        "an archive of this version or of an older one", "update Kiln");
}

bool RunCore::is_run(const Archive& archive) { return archive.has("run.control"); }

// The default number of replicas follows from the naming, and fits it.
void RunCore::require_naming(const RunOptions& options) const {
  if (options.replicas == 0) return;
  const bool in_blocks = needs_.ladders_in_blocks && draw_naming_ == DrawNaming::planes;
  const std::int64_t groups = batch_->groups() * (in_blocks ? ladders_of_block : 1);
  NamingChoice(problem_, needs_, options, {batch_->replicas(), groups, options.seed}).naming();
}

std::shared_ptr<Queue> RunCore::share_queue() {
  while (progress_->pending > 0) wait_summary();
  return queue_;
}

void RunCore::give_up() noexcept { progress_->whole = false; }

}  // namespace kiln
