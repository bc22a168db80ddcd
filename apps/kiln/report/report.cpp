// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <filesystem>
#include <utility>

#include "kiln/errors.hpp"

#include "diagnosis/diagnosis.hpp"
#include "output/text.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

struct Part {
  const char* id;
  const char* title;
  std::string content;
  bool folded = false;
};

Diagnosis diagnosis_in(const RunFiles& files) {
  if (files.result.is_null()) return {};
  const std::string name = files.folder + "/result.json";
  try {
    return diagnosis_of(files.result, name);
  } catch (const nlohmann::json::exception& error) {
    throw ParseError(name, {{0, 0, clean(error.what()), "the result of kiln solve or kiln sample"}},
                     1);
  }
}

std::vector<Part> parts_of(const RunFiles& files) {
  const Diagnosis run = diagnosis_in(files);
  std::vector<Part> parts;
  parts.push_back({"notes", "Incomplete files", notes_html(files)});
  parts.push_back({"posterior", "Posterior", posterior_html(files)});
  parts.push_back({"front", "Front", front_html(files.result)});
  parts.push_back({"evaluations", "Evaluations and model", evaluations_html(files)});
  parts.push_back({"progress", "Progress", curves_html(files)});
  parts.push_back({"ladder", "Ladder", ladder_html(run)});
  parts.push_back({"series", "Series", series_html(run)});
  parts.push_back({"telemetry", "Telemetry", telemetry_html(files)});
  parts.push_back({"memory", "Memory", memory_html(files.result)});
  parts.push_back({"profile", "Profile", profile_html(files.result)});
  parts.push_back({"hardware", "Hardware", hardware_html(files.result)});
  parts.push_back({"repeat", "Repeat this run", environment_html(files)});
  parts.push_back({"diagnostics", "Diagnostics", diagnostics_html(run), true});
  parts.push_back({"events", "Events", events_html(files), true});
  parts.push_back({"options", "Options", options_html(files.run), true});
  return parts;
}

}  // namespace

Report report_on(const RunFiles& files) {
  const std::string problem = text_at(files.run, {"problem", "name"}).value_or("?");
  Page page("Kiln: " + problem);
  const std::string head = headline_html(files);
  page.header(problem, subtitle_html(files), head);
  // The frame, with the navigation, takes some 15 kB.
  std::size_t room = max_report_bytes - 20'000 - std::min<std::size_t>(head.size(), 100'000);
  for (const Part& part : parts_of(files)) {
    const bool fits = part.content.size() < room;
    if (fits) room -= part.content.size();
    page.section(
        part.id, part.title,
        fits ? part.content
             : "<p class=\"note\">Too large for the report: see the files of the run.</p>\n",
        part.folded);
  }
  Report report;
  report.sections = page.sections();
  report.html = std::move(page).finish();
  return report;
}

std::string report_of_folder(const std::string& folder) {
  RunFiles files = read_run_files(folder);
  files.under_way = false;  // the run itself asks, at its end
  return report_on(files).html;
}

}  // namespace kiln::cli
