// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the load of a run with another naming of draws needs.
#include <string>

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

// Archives of older versions do not say how many replicas they have.
void RunCore::require_replicas(const Archive& archive, std::int64_t replicas) {
  constexpr const char* section = "run.replicas";
  if (!archive.has(section)) return;
  const auto saved = archive.get_value<std::int64_t>(section);
  if (saved == replicas) return;
  throw InvalidArgument("archive.replicas",
                        "the archive has " + std::to_string(saved) + " replicas, and the run has " +
                            std::to_string(replicas),
                        "an archive of a run with as many replicas", Fix::set_replicas(saved));
}

// The default number of replicas follows from the naming.
void RunCore::require_naming(const RunOptions& options, const Archive& archive) const {
  RunPlan plan;
  plan.needs = needs_;
  plan.device = progress_->device;
  const ShapeAndNaming other = shape_and_naming(problem_, schedule_, options, plan);
  require_replicas(archive, other.shape.replicas);
}

std::shared_ptr<Queue> RunCore::share_queue() {
  while (progress_->pending > 0) wait_summary();
  return queue_;
}

void RunCore::give_up() noexcept { progress_->whole = false; }

}  // namespace kiln
