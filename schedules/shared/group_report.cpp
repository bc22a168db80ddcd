// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/group_report.hpp"

#include <algorithm>
#include <cstddef>

namespace kiln {

void report_best_of_groups(ReportContext& run, Result& result) {
  const std::vector<double>& energies = run.best_energies();
  const auto size = static_cast<std::ptrdiff_t>(run.batch().group_size());
  std::vector<double> best;
  auto group = energies.begin();
  for (std::int64_t g = 0; g < run.batch().groups(); ++g, group += size) {
    best.push_back(run.problem().units.objective_of_stored(*std::min_element(group, group + size)));
  }
  result.series["group_best"] = std::move(best);
}

}  // namespace kiln
