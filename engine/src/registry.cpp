// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/registry.hpp"

#include <algorithm>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

[[noreturn]] void refuse_taken(const char* what, const std::string& name) {
  throw InvalidArgument("registry.taken",
                        std::string("a ") + what + " named '" + name + "' is already registered");
}

template <class Entry>
const Entry& find(const std::map<std::string, Entry>& entries, const std::string& name,
                  const char* what) {
  const auto found = entries.find(name);
  if (found != entries.end()) return found->second;
  std::vector<std::string> names;
  std::string all;
  for (const auto& [key, entry] : entries) {
    names.push_back(key);
    all += (all.empty() ? "" : ", ") + key;
  }
  const std::string near = nearest_name(name, names);
  throw InvalidArgument(std::string(what) + ".unknown",
                        std::string("unknown ") + what + " '" + name + "'" +
                            (near.empty() ? "" : "; the nearest is '" + near + "'"),
                        "available: " + all, Fix::list_names(what));
}

template <class Entry>
std::vector<const Entry*> all_of(const std::map<std::string, Entry>& entries) {
  std::vector<const Entry*> list;
  for (const auto& [name, entry] : entries) list.push_back(&entry);
  return list;
}

}  // namespace

void Registry::add(ScheduleEntry entry) {
  std::vector<std::string> others = entry.aliases;
  others.insert(others.end(), entry.former_names.begin(), entry.former_names.end());
  std::vector<std::string> names = others;
  names.push_back(entry.name);
  std::ranges::sort(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (has_schedule(names[i]) || (i > 0 && names[i] == names[i - 1]))
      refuse_taken("schedule", names[i]);
  }
  for (const std::string& alias : others) aliases_.emplace(alias, entry.name);
  schedules_.emplace(entry.name, std::move(entry));
}
void Registry::add(ProblemEntry entry) {
  const std::string name = entry.name;
  if (!problems_.emplace(name, std::move(entry)).second) refuse_taken("problem family", name);
}

const ScheduleEntry& Registry::schedule(const std::string& name) const {
  const auto alias = aliases_.find(name);
  return find(schedules_, alias == aliases_.end() ? name : alias->second, "schedule");
}
const ProblemEntry& Registry::problem(const std::string& name) const {
  return find(problems_, name, "problem");
}

std::string Registry::default_schedule(const Problem& problem) const {
  if (!problem.start.schedule.empty() || !problem.objectives) return problem.start.schedule;
  std::string first;
  for (const auto& [name, entry] : schedules_) {
    if (!entry.several_objectives) continue;
    if (entry.is_default) return name;
    if (first.empty()) first = name;
  }
  return first;
}

std::vector<const ScheduleEntry*> Registry::schedules() const { return all_of(schedules_); }
std::vector<const ProblemEntry*> Registry::problems() const { return all_of(problems_); }

}  // namespace kiln
