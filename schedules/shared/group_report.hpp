// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kiln/result.hpp"
#include "kiln/run_context.hpp"

namespace kiln {

/// The series group_best: the best value that each group has found.
void report_best_of_groups(ReportContext& run, Result& result);

/// A series of the value that each group has for one of its options.
template <class Options>
void report_of_groups(Result& result, const std::string& series, const std::vector<Options>& groups,
                      double Options::*option) {
  std::vector<double> values;
  for (const Options& own : groups) values.push_back(own.*option);
  result.series[series] = std::move(values);
}

}  // namespace kiln
