// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "direct_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kiln/kernels/information/ksg_points.hpp"

#include "idx.hpp"
#include "tasks.hpp"

namespace kiln {
namespace {

std::string words_of(const InformationMap& map, const InformationLink& link) {
  return fmt::format("'{}' -> '{}' at lag {}", map.names[idx(link.source)],
                     map.names[idx(link.target)], link.lag);
}

// As many links as conditions may be, the strongest; the others are left as they are.
void limit(const InformationTask& task, std::vector<InformationLink*>& links) {
  const std::size_t others =
      (KsgPoints::max_dims - task.z.size() - task.y.size() - task.x.size()) / task.x.size();
  if (links.size() <= others + 1) return;
  std::ranges::stable_sort(links, [](const InformationLink* a, const InformationLink* b) {
    return a->estimate.effective > b->estimate.effective;
  });
  links.resize(others + 1);
}

}  // namespace

void keep_direct_links(const InformationColumns& which, const InformationOptions& options,
                       std::int32_t k, const SurrogatePlan& wish, KsgEstimator& estimator,
                       InformationMap& map) {
  std::map<std::int32_t, std::vector<InformationLink*>> of_target;
  for (InformationLink& link : map.links) {
    if (link.significant) of_target[link.target].push_back(&link);
  }
  for (auto& [target, links] : of_target) {
    limit(task_of(*links.front(), which, options), links);
    while (links.size() > 1) {
      std::vector<InformationTask> tasks;
      for (const InformationLink* link : links) {
        tasks.push_back(task_of(*link, which, options));
        for (const InformationLink* other : links) {
          if (other == link) continue;
          const std::vector<InformationAxis> more = task_of(*other, which, options).x;
          tasks.back().z.insert(tasks.back().z.end(), more.begin(), more.end());
        }
      }
      const std::vector<InformationEstimate> given =
          estimator.estimate(tasks, {.k = k, .surrogates = wish}).estimates;
      const auto weakest = std::ranges::max_element(given, {}, &InformationEstimate::p_value);
      if (weakest->p_value <= options.false_discovery_rate) break;
      const auto place = weakest - given.begin();
      links[idx(place)]->significant = false;
      map.notes.push_back(
          fmt::format("the other sources of its target explain the link {} (p = "
                      "{:.2g} given them)",
                      words_of(map, *links[idx(place)]), weakest->p_value));
      links.erase(links.begin() + place);
    }
  }
}

}  // namespace kiln
