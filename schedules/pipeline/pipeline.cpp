// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/pipeline.hpp"

#include <algorithm>

#include "kiln/errors.hpp"

namespace kiln {

Pipeline::Pipeline(std::vector<Stage> stages) : stages_(std::move(stages)) {
  if (stages_.empty()) {
    throw InvalidArgument("pipeline.empty", "a pipeline needs at least one stage");
  }
  for (const Stage& one : stages_) {
    if (one.schedule == nullptr) {
      throw InvalidArgument("pipeline.empty", "a stage of a pipeline needs a schedule");
    }
    if (one.schedule->as<HasStages>() == nullptr) continue;
    throw InvalidArgument("pipeline.nested", "a stage of a pipeline is a pipeline", {},
                          "list its stages instead");
  }
}

std::string Pipeline::name() const {
  std::string name;
  for (const Stage& one : stages_) name += (name.empty() ? "" : " > ") + one.schedule->name();
  return name;
}

std::string_view Pipeline::step_name() const {
  const std::string_view first = stages_.front().schedule->step_name();
  const bool equal = std::ranges::all_of(
      stages_, [&](const Stage& one) { return one.schedule->step_name() == first; });
  return equal ? first : "step";
}

std::map<std::string, std::string> Pipeline::parameters() const {
  std::map<std::string, std::string> all;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    for (const auto& [name, value] : stages_[i].schedule->parameters()) {
      all[std::to_string(i + 1) + "." + name] = value;
    }
  }
  return all;
}

Needs Pipeline::needs(const Problem& problem, const Budget& budget) {
  return stages_.front().schedule->needs(problem, budget);
}
WorkKind Pipeline::work_kind() const noexcept { return stages_.front().schedule->work_kind(); }
void Pipeline::allocate(AllocateContext& run) { stages_.front().schedule->allocate(run); }
void Pipeline::initialize(InitializeContext& run) { stages_.front().schedule->initialize(run); }
void Pipeline::enqueue(TickContext& run) { stages_.front().schedule->enqueue(run); }

}  // namespace kiln
