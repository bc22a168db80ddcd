// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "study/study_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "kiln/errors.hpp"

#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

std::vector<double> numbers_of(const State& state) {
  std::vector<double> numbers;
  for (const auto& block : state) {
    std::visit([&](const auto& list) { numbers.insert(numbers.end(), list.begin(), list.end()); },
               block);
  }
  return numbers;
}

void repeat(const StudyFolder& folder, const StudyRecord& record, const StudyEvent& event,
            BayesianOptimizer& search) {
  if (event.asked == 0) {
    const double sign = folder.problem().units.sense == Sense::maximize ? -1 : 1;
    std::vector<double> constraints = event.told.constraints;
    constraints.resize(static_cast<std::size_t>(folder.problem().objective->constraints()));
    search.tell(event.told.id, sign * event.told.value, constraints);
    return;
  }
  const std::vector<Suggestion> found = search.ask(event.asked);
  const auto is_same = [&](const Suggestion& one, std::int64_t id) {
    return one.id == id && numbers_of(one.state) == record.points.at(id).numbers;
  };
  if (std::ranges::equal(found, event.points, is_same)) return;
  throw SelfCheckError(
      "study.replay",
      clean(folder.path().string()) +
          ": this version of Kiln does not find the points of the journal again",
      "search.state, with which an ask continues, is missing, damaged or of another journal",
      "continue with the version of Kiln that made the study, or put search.state back");
}

BayesianOptimizer search_of(const StudyFolder& folder, const StudyRecord& record) {
  BayesianOptimizer search = folder.settings().optimizer(folder.problem());
  std::size_t known = 0;
  if (const auto saved = folder.saved(record)) {
    search.restore(saved->state);
    known = saved->lines;
  }
  for (; known < record.events.size(); ++known) {
    repeat(folder, record, record.events[known], search);
  }
  return search;
}

[[noreturn]] void refuse_further(const std::string& why) {
  throw ObjectiveError("study.complete", why, {}, "kiln ask RUN --status shows the best point");
}

}  // namespace

std::vector<StudyPoint> next_points(const StudyFolder& folder, StudyRecord& record,
                                    std::int64_t count) {
  const std::string name = clean(folder.path().string());
  const auto asked = static_cast<std::int64_t>(record.points.size());
  if (const auto most = folder.settings().evaluations) {
    count = std::min(count, *most - asked);
    if (count <= 0) {
      refuse_further(fmt::format("all {} points of {} were asked for; {} of them are pending",
                                 *most, name, record.pending().size()));
    }
  }
  BayesianOptimizer search = search_of(folder, record);
  StudyEvent event;
  event.asked = count;
  std::vector<StudyPoint> points;
  try {
    for (const Suggestion& one : search.ask(count)) {
      points.push_back({.id = one.id, .numbers = numbers_of(one.state), .constraints = {}});
      event.points.push_back(one.id);
    }
  } catch (const InvalidArgument& error) {
    if (error.code() != "search.exhausted") throw;
    refuse_further(name + " has no further point: all points of its space were asked for");
  }
  folder.append(record, {event}, points);
  folder.save(record, search.state());
  return points;
}

}  // namespace kiln::cli
