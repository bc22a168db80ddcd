// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fix.hpp"

#include <utility>

namespace kiln {
namespace {

// The option of Kiln's schedules that does without a need; users set options, not needs.
std::string without(const std::string& need) {
  const std::string other = "choose a schedule or options that do not set Needs::" + need;
  if (need == "heat_bath") return "set the option moves = \"metropolis\", or " + other;
  if (need == "shared_noise") return "set the option noise = \"independent\", or " + other;
  return other;
}

}  // namespace

std::string FixStep::sentence() const {
  switch (code) {
    case FixCode::text:
      return argument;
    case FixCode::use_device:
      return "run with RunOptions::device = \"" + argument + "\"";
    case FixCode::use_another_gpu:
      return "try another GPU (RunOptions::device = \"cuda:N\")";
    case FixCode::use_executor:
      return "set RunOptions::executor to " + argument;
    case FixCode::set_replicas:
      return "set RunOptions::replicas = " + argument;
    case FixCode::fewer_replicas:
      return "lower RunOptions::replicas";
    case FixCode::more_replicas:
      return "raise RunOptions::replicas";
    case FixCode::longer_time_limit:
      return "raise Budget::time_limit_s";
    case FixCode::work_limit:
      return "set Budget::work_limit = " + argument;
    case FixCode::initial_states:
      return "set RunOptions::initial_states to " + argument;
    case FixCode::feasible_initial_state:
      return "start from a feasible state (RunOptions::initial_states)";
    case FixCode::choose_schedule:
      return "choose a schedule whose ScheduleEntry::" + argument + " is true";
    case FixCode::drop_need:
      return without(argument);
    case FixCode::drop_requirement:
      return "choose a schedule or options that do not require " + argument;
    case FixCode::keep_sense:
      return "keep the sense of the problem: remove the call of turned()";
    case FixCode::list_names:
      return "Registry::" + argument + "s() lists them";
  }
  return argument;
}

Fix::Fix(std::string text) {
  if (!text.empty()) steps_.push_back({FixCode::text, std::move(text)});
}
Fix::Fix(const char* text) : Fix(std::string(text)) {}
Fix::Fix(FixStep step) { steps_.push_back(std::move(step)); }

Fix Fix::use_executor(std::string_view executor) {
  return Fix(FixStep{FixCode::use_executor, std::string(executor)});
}
Fix Fix::use_device(std::string device) {
  return Fix(FixStep{FixCode::use_device, std::move(device)});
}
Fix Fix::use_another_gpu() { return Fix(FixStep{FixCode::use_another_gpu}); }
Fix Fix::set_replicas(std::int64_t replicas) {
  return Fix(FixStep{FixCode::set_replicas, std::to_string(replicas)});
}
Fix Fix::fewer_replicas() { return Fix(FixStep{FixCode::fewer_replicas}); }
Fix Fix::more_replicas() { return Fix(FixStep{FixCode::more_replicas}); }
Fix Fix::longer_time_limit() { return Fix(FixStep{FixCode::longer_time_limit}); }
Fix Fix::work_limit(std::int64_t work) {
  return Fix(FixStep{FixCode::work_limit, std::to_string(work)});
}
Fix Fix::initial_states(std::string one_of_them) {
  return Fix(FixStep{FixCode::initial_states, std::move(one_of_them)});
}
Fix Fix::feasible_initial_state() { return Fix(FixStep{FixCode::feasible_initial_state}); }
Fix Fix::choose_schedule(std::string member) {
  return Fix(FixStep{FixCode::choose_schedule, std::move(member)});
}
Fix Fix::drop_requirement(std::string ability) {
  return Fix(FixStep{FixCode::drop_requirement, std::move(ability)});
}
Fix Fix::drop_need(std::string member) {
  return Fix(FixStep{FixCode::drop_need, std::move(member)});
}
Fix Fix::keep_sense(std::string sense) {
  return Fix(FixStep{FixCode::keep_sense, std::move(sense)});
}
Fix Fix::list_names(std::string kind) { return Fix(FixStep{FixCode::list_names, std::move(kind)}); }

Fix Fix::or_else(const Fix& other) const {
  Fix either = *this;
  either.steps_.insert(either.steps_.end(), other.steps_.begin(), other.steps_.end());
  return either;
}

std::string Fix::sentence() const {
  return worded([](const FixStep& step) { return step.sentence(); });
}

std::string Fix::worded(FunctionRef<std::string(const FixStep&)> words) const {
  std::string all;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i > 0) all += i + 1 < steps_.size() ? ", " : ", or ";
    all += steps_[i].code == FixCode::text ? steps_[i].argument : words(steps_[i]);
  }
  return all;
}

}  // namespace kiln
