// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "ksg_plan.hpp"

#include <algorithm>
#include <numeric>

#include "idx.hpp"

namespace kiln {

KsgPlan::KsgPlan(const std::vector<InformationTask>& tasks_, const InformationOptions& options,
                 std::int64_t surrogates)
    : tasks(tasks_),
      z(static_cast<std::int32_t>(tasks.front().z.size())),
      y(static_cast<std::int32_t>(tasks.front().y.size())),
      x(static_cast<std::int32_t>(tasks.front().x.size())),
      by_extents(options.type == 2 && z == 0),
      keeps_time(options.theiler > 0) {
  for (const InformationTask& task : tasks) number(task);
  std::vector<std::size_t> by_source(tasks.size());
  std::iota(by_source.begin(), by_source.end(), std::size_t{0});
  std::ranges::stable_sort(by_source, {},
                           [&](std::size_t task) { return tasks[task].x.front().column; });
  for (const std::size_t task : by_source) problems.push_back({task, -1});
  for (std::size_t begin = 0, end = 0; begin < by_source.size() && surrogates > 0; begin = end) {
    const std::int32_t column = source(problems[begin]);
    while (end < by_source.size() && source(problems[end]) == column) ++end;
    for (std::int64_t s = 0; s < surrogates; ++s) {
      for (std::size_t i = begin; i < end; ++i) problems.push_back({by_source[i], s});
    }
  }
}

void KsgPlan::number(const InformationTask& task) {
  std::vector<InformationAxis> unchanged = task.z;
  unchanged.insert(unchanged.end(), task.y.begin(), task.y.end());
  const std::int32_t order = orders.of(unchanged.front());
  const auto numbers = [this](const std::vector<InformationAxis>& of, std::int32_t in_order) {
    std::vector<std::int32_t> all;
    for (const InformationAxis& axis : of) all.push_back(axes.of({axis, in_order}));
    return all;
  };
  order_of.push_back(order);
  known.push_back(numbers(unchanged, order));
  natural.push_back(keeps_time ? numbers(unchanged, -1) : std::vector<std::int32_t>());
  search.emplace_back();
  if (z > 0) return;
  search.back() = numbers(task.y, order);
  const std::vector<std::int32_t> of_x = numbers(task.x, orders.of(task.x.front()));
  search.back().insert(search.back().end(), of_x.begin(), of_x.end());
}

std::int64_t KsgPlan::run_length(std::int64_t first, std::int64_t capacity) const {
  const KsgProblem& begin = problems[idx(first)];
  std::int64_t count = 1;
  while (count < capacity && first + count < std::ssize(problems)) {
    const KsgProblem& next = problems[idx(first + count)];
    const bool is_original = next.surrogate < 0;
    if (is_original != (begin.surrogate < 0)) break;
    if (!is_original && source(next) != source(begin)) break;
    ++count;
  }
  return count;
}

}  // namespace kiln
