// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "kiln/version.hpp"

#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t columns = 80, size_width = 11, default_width = 15, chosen_width = 18;

std::string short_number(std::string_view digits) {
  constexpr std::string_view units = "kMGTPE";
  std::size_t thousands = 0;
  while (digits.size() > 4 || (thousands > 0 && digits.size() > 3)) {
    digits.remove_suffix(3);
    ++thousands;
  }
  return std::string(digits) + (thousands > 0 ? std::string(1, units[thousands - 1]) : "");
}

// The same width for all gains up to 9999.
std::string gain_text(const TuneOutcome& outcome) {
  const TuneInterval& gain = outcome.gain;
  if (gain.median <= 0) return "-";
  const int digits = gain.high < 9.995 ? 2 : gain.high < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} ({:.{}f}-{:.{}f})", gain.median, digits, gain.low, digits, gain.high,
                     digits);
}

std::string chosen_text(const TuneOutcome& outcome) {
  if (outcome.chosen) return text_of(*outcome.chosen);
  return outcome.default_complaint.empty() ? "no gain" : "default is wrong";
}

std::string cut(std::string text, std::size_t width) {
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  return clean(text);
}

// A cell that begins in a column, and the blanks up to the next cell.
std::string cell(const std::string& text, std::size_t column, std::size_t width) {
  const std::string shown = cut(text, columns - column);
  if (shown.size() <= width) return shown + std::string(width + 1 - shown.size(), ' ');
  return shown + "\n" + std::string(column + width + 1, ' ');
}

std::string row(const std::string& size, const std::string& standard, const std::string& chosen,
                const std::string& rest) {
  const std::size_t second = 2 + size_width + 1, third = second + default_width + 1;
  return "  " + cell(size, 2, size_width) + cell(standard, second, default_width) +
         cell(chosen, third, chosen_width) + rest + "\n";
}

std::string last_cells(std::string_view gain, std::string_view tried, std::string_view refused) {
  return fmt::format("{:>16} {:>5} {:>7}", gain, tried, refused);
}

std::string row_of(const TuneOutcome& outcome) {
  std::string text =
      row(short_bucket(outcome.subject.bucket), outcome.default_text, chosen_text(outcome),
          last_cells(gain_text(outcome), std::to_string(outcome.tried),
                     std::to_string(outcome.wrong + outcome.failed)));
  if (outcome.default_complaint.empty()) return text;
  for (const std::string& line : wrap(clean(outcome.default_complaint), columns - 4)) {
    text += "    " + cut(line, columns - 4) + "\n";
  }
  return text;
}

// The headers of all keys; that of a key whose line was lost says so.
std::vector<TuneHeader> headers_of(const TuneRecords& records) {
  std::vector<TuneHeader> all;
  const auto is_there = [&](const std::string& key) {
    return std::ranges::find(all, key, &TuneHeader::key) != all.end();
  };
  for (const TuneHeader& one : records.headers) {
    if (!is_there(one.key)) all.push_back(one);
  }
  for (const TuneOutcome& one : records.outcomes) {
    const std::string& key = one.subject.key;
    if (!is_there(key)) all.push_back({key, "unknown device " + key, "", "", ""});
  }
  return all;
}

void keep_last(const TuneOutcome& one, std::vector<TuneOutcome>& outcomes) {
  const auto same = std::ranges::find_if(outcomes, [&](const TuneOutcome& earlier) {
    return earlier.subject.tunable == one.subject.tunable &&
           earlier.subject.bucket == one.subject.bucket;
  });
  if (same != outcomes.end()) {
    *same = one;
  } else {
    outcomes.push_back(one);
  }
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

TuneBuild build_of(const TuneHeader& header, const TuneOutcome& outcome) {
  const bool gpu = !header.toolkit.empty(), lost = header.kiln.empty();
  TuneBuild found = TuneBuild::unknown;
  for (const bool kind : {false, true}) {
    if (kind != gpu && !lost) continue;
    for (const Tunable* one : tunables(kind)) {
      if (one->name() != outcome.subject.tunable) continue;
      if (one->hash() == outcome.subject.hash) return TuneBuild::here;
      found = TuneBuild::other;
    }
  }
  return found;
}

std::vector<TuneReport> reports_of(const std::filesystem::path& file, const TuneRecords& records,
                                   BuildOfOutcome build) {
  std::vector<TuneReport> reports;
  for (const TuneHeader& header : headers_of(records)) {
    TuneReport report{header, file, {}, {}, 0};
    for (const TuneOutcome& one : records.outcomes) {
      if (one.subject.key != header.key) continue;
      const TuneBuild made_by = build != nullptr ? build(header, one) : TuneBuild::here;
      if (made_by == TuneBuild::other) {
        ++report.of_other_builds;
        continue;
      }
      if (made_by == TuneBuild::unknown) report.unknown.insert(one.subject.tunable);
      // A build is of one version, and the header may be older.
      if (build != nullptr && made_by == TuneBuild::here) report.device.kiln = version();
      keep_last(one, report.outcomes);
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
  std::string text = device.device;
  if (!device.driver.empty()) text += ", driver " + device.driver;
  if (!device.toolkit.empty()) text += ", CUDA " + device.toolkit;
  if (!device.kiln.empty()) text += ", Kiln " + device.kiln;
  text = cut(text, columns) + "\n";
  if (report.outcomes.empty()) text += "  nothing was tuned to its end\n";
  if (!report.outcomes.empty()) {
    text += row("size", "default", "chosen", last_cells("gain (95 %)", "tried", "refused"));
  }
  std::string tunable;
  for (const TuneOutcome& one : report.outcomes) {
    if (one.subject.tunable != tunable) {
      const bool unknown = report.unknown.contains(one.subject.tunable);
      text += cut(one.subject.tunable, columns - 14) + (unknown ? " (other build)" : "") + "\n";
    }
    tunable = one.subject.tunable;
    text += row_of(one);
  }
  if (report.of_other_builds > 0) {
    text += fmt::format("  not shown: {} result{} of other builds of Kiln\n",
                        report.of_other_builds, report.of_other_builds == 1 ? "" : "s");
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
         {"build", report.unknown.contains(one.subject.tunable) ? "other" : "this"},
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
