// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* row_format = "  {:<11} {:<15} {:<18} {:>16} {:>5} {:>7}\n";

std::string short_number(std::string_view digits) {
  constexpr std::string_view units = "kMGTPE";
  std::size_t thousands = 0;
  while (digits.size() > 4 || (thousands > 0 && digits.size() > 3)) {
    digits.remove_suffix(3);
    ++thousands;
  }
  return std::string(digits) + (thousands > 0 ? std::string(1, units[thousands - 1]) : "");
}

std::string gain_text(const TuneOutcome& outcome) {
  const TuneInterval& gain = outcome.gain;
  if (gain.median <= 0) return "-";
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", gain.median, gain.low, gain.high);
}

std::string chosen_text(const TuneOutcome& outcome) {
  if (outcome.chosen) return text_of(*outcome.chosen);
  return outcome.default_complaint.empty() ? "no gain" : "default is wrong";
}

std::string row_of(const TuneOutcome& outcome) {
  return fmt::format(fmt::runtime(row_format), short_bucket(outcome.subject.bucket),
                     clean(outcome.default_text), clean(chosen_text(outcome)), gain_text(outcome),
                     outcome.tried, outcome.wrong + outcome.failed);
}

Json interval_json(const TuneInterval& one) {
  return {{"low", one.low}, {"median", one.median}, {"high", one.high}};
}

Json shape_json(const std::optional<NamedShape>& shape) {
  if (!shape) return nullptr;
  Json json = Json::object();
  for (const auto& [name, value] : *shape) json[clean(name)] = value;
  return json;
}

}  // namespace

std::string short_bucket(int bucket) {
  const std::string text = bucket_text(bucket);
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return text;
  return short_number(std::string_view(text).substr(0, dots)) + ".." +
         short_number(std::string_view(text).substr(dots + 2));
}

std::vector<TuneReport> reports_of(const std::filesystem::path& file, const TuneRecords& records) {
  std::vector<TuneReport> reports;
  for (const TuneHeader& header : records.headers) {
    if (std::ranges::any_of(reports,
                            [&](const TuneReport& one) { return one.device.key == header.key; })) {
      continue;
    }
    TuneReport report{header, file, {}};
    for (const TuneOutcome& one : records.outcomes) {
      if (one.subject.key != header.key) continue;
      const auto same = std::ranges::find_if(report.outcomes, [&](const TuneOutcome& earlier) {
        return earlier.subject.tunable == one.subject.tunable &&
               earlier.subject.bucket == one.subject.bucket;
      });
      if (same != report.outcomes.end()) {
        *same = one;
      } else {
        report.outcomes.push_back(one);
      }
    }
    std::ranges::sort(report.outcomes, [](const TuneOutcome& a, const TuneOutcome& b) {
      return std::tie(a.subject.tunable, a.subject.bucket) <
             std::tie(b.subject.tunable, b.subject.bucket);
    });
    reports.push_back(std::move(report));
  }
  return reports;
}

std::string table_of(const TuneReport& report) {
  const TuneHeader& device = report.device;
  std::string text = clean(device.device);
  if (!device.driver.empty()) text += ", driver " + clean(device.driver);
  if (!device.toolkit.empty()) text += ", CUDA " + clean(device.toolkit);
  text += ", Kiln " + clean(device.kiln) + "\n";
  if (report.outcomes.empty()) return text + "  nothing was tuned to its end\n";
  text += fmt::format(fmt::runtime(row_format), "size", "default", "chosen", "gain (95 %)", "tried",
                      "refused");
  std::string tunable;
  for (const TuneOutcome& one : report.outcomes) {
    if (one.subject.tunable != tunable) text += clean(one.subject.tunable) + "\n";
    tunable = one.subject.tunable;
    text += row_of(one);
  }
  return text;
}

Json json_of(const TuneReport& report) {
  Json json = {{"device", clean(report.device.device)},   {"driver", clean(report.device.driver)},
               {"toolkit", clean(report.device.toolkit)}, {"kiln", clean(report.device.kiln)},
               {"file", clean(report.file.string())},     {"tunings", Json::array()}};
  for (const TuneOutcome& one : report.outcomes) {
    json["tunings"].push_back(
        {{"tunable", clean(one.subject.tunable)},
         {"sizes", bucket_text(one.subject.bucket)},
         {"workload", clean(one.workload)},
         {"default", clean(one.default_text)},
         {"chosen", shape_json(one.chosen)},
         {"gain", one.gain.median > 0 ? interval_json(one.gain) : Json(nullptr)},
         {"shapes", one.space},
         {"tried", one.tried},
         {"wrong", one.wrong},
         {"failed", one.failed},
         {"search", clean(one.search)},
         {"complaint",
          one.default_complaint.empty() ? Json(nullptr) : Json(clean(one.default_complaint))}});
  }
  return json;
}

}  // namespace kiln::cli
