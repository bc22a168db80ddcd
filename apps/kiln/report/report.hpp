// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run_files.hpp"

namespace kiln::cli {

/// A report as HTML, and what is in it.
struct Report {
  std::string html;
  std::vector<std::string> sections;  ///< their ids
};

/// The report on one run. Its size is at most max_report_bytes: of a run whose charts are larger,
/// the last sections have tables alone.
/// @throws ParseError where result.json lacks what every result has.
Report report_on(const RunFiles& files);

/// The same of a run folder, for the run itself at its end: as HTML.
/// @throws as read_run_files() and report_on()
std::string report_of_folder(const std::string& folder);

/// The comparison of several runs.
/// @param target  value whose time is compared; without one the target of the runs, the best known
/// value or the best value that any run found
Report comparison_of(const std::vector<RunFiles>& runs, std::optional<double> target);

}  // namespace kiln::cli
