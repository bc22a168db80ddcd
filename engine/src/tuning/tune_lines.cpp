// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines of the file of tuned shapes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kiln/tuning/tune_file.hpp"
#include "kiln/version.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> verdicts{"measured", "wrong", "failed", "declined"};

// A record has less than a kilobyte, so a longer line is not parsed.
constexpr std::size_t max_line_bytes = 65536;
// Limits of what a table shows. A line beyond them was edited by hand.
constexpr std::int64_t max_count = 99'999, max_bucket = 36;
constexpr double max_gain = 9999;

// Five digits: people read the file.
double rounded(double value) { return std::stod(fmt::format("{:.5g}", value)); }

Json json_of(const TuneInterval& one) {
  return Json::array({rounded(one.low), rounded(one.median), rounded(one.high)});
}

Json json_of(const NamedShape& shape) {
  Json json = Json::object();
  for (const auto& [name, value] : shape) json[name] = value;
  return json;
}

Json json_of(const char* what, const TuneSubject& of) {
  return {{"tune", what},    {"key", of.key},       {"tunable", of.tunable},
          {"hash", of.hash}, {"bucket", of.bucket}, {"sizes", bucket_text(of.bucket)}};
}

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

TuneInterval interval_of(const Json& json) {
  const TuneInterval one{json.at(0).get<double>(), json.at(1).get<double>(),
                         json.at(2).get<double>()};
  const bool ordered = one.low >= 0 && one.low <= one.median && one.median <= one.high;
  if (!ordered || !std::isfinite(one.high)) throw std::invalid_argument("interval");
  return one;
}

// A number such as 1e300 has no value as an integer.
std::int64_t count_of(const Json& json, std::int64_t max = max_count) {
  if (!json.is_number_integer()) throw std::invalid_argument("count");
  const auto count = json.get<std::int64_t>();
  if (count < 0 || count > max) throw std::invalid_argument("count");
  return count;
}

NamedShape shape_of(const Json& json) {
  NamedShape shape;
  for (const auto& [name, value] : json.items()) {
    const auto wide = value.get<std::int64_t>();
    if (!value.is_number_integer() || wide != static_cast<std::int32_t>(wide)) {
      throw std::invalid_argument("shape");
    }
    shape.emplace_back(name, static_cast<std::int32_t>(wide));
  }
  return shape;
}

TuneSubject subject_of(const Json& json) {
  return {json.at("key"), json.at("tunable"), json.at("hash"),
          static_cast<int>(count_of(json.at("bucket"), max_bucket))};
}

TuneTrial trial_of(const Json& json) {
  TuneTrial trial;
  trial.subject = subject_of(json);
  trial.shape = shape_of(json.at("shape"));
  const auto* const verdict = std::ranges::find(verdicts, json.at("verdict").get<std::string>());
  if (verdict == verdicts.end()) throw std::invalid_argument("verdict");
  trial.verdict = static_cast<TrialVerdict>(verdict - verdicts.begin());
  trial.again = json.value("again", false);
  trial.complaint = json.value("complaint", std::string{});
  if (trial.verdict != TrialVerdict::measured) return trial;
  trial.seconds = interval_of(json.at("seconds"));
  trial.default_seconds = interval_of(json.at("default_seconds"));
  trial.gain = interval_of(json.at("gain"));
  trial.samples = static_cast<int>(count_of(json.at("samples")));
  return trial;
}

TuneOutcome outcome_of(const Json& json, std::int64_t number) {
  TuneOutcome outcome;
  outcome.subject = subject_of(json);
  outcome.workload = json.at("workload");
  outcome.default_text = json.at("default");
  if (!json.at("chosen").is_null()) outcome.chosen = shape_of(json.at("chosen"));
  outcome.gain = interval_of(json.at("gain"));
  if (outcome.gain.high > max_gain) throw std::invalid_argument("gain");
  outcome.space = count_of(json.at("space"), std::numeric_limits<std::int64_t>::max());
  outcome.tried = count_of(json.at("tried"));
  outcome.wrong = count_of(json.at("wrong"));
  outcome.failed = count_of(json.at("failed"));
  outcome.search = json.at("search");
  outcome.default_complaint = json.value("complaint", std::string{});
  outcome.line = number;
  return outcome;
}

void read_line(const Json& json, std::int64_t number, TuneRecords& records) {
  const std::string what = json.at("tune");
  if (what == "device") {
    records.headers.push_back({json.at("key"), json.at("device"), json.at("driver"),
                               json.at("toolkit"), json.at("kiln")});
  } else if (what == "trial") {
    records.trials.push_back(trial_of(json));
  } else if (what == "outcome") {
    records.outcomes.push_back(outcome_of(json, number));
  } else {
    throw std::invalid_argument("record");
  }
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

// Exceptions are slow, so they are for lines alone that look like records.
bool add_line(std::string_view line, std::int64_t number, TuneRecords& records) {
  if (line.size() > max_line_bytes) return false;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("tune")) return false;
  try {
    read_line(json, number, records);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::string_view to_string(TrialVerdict verdict) noexcept {
  return verdicts[static_cast<std::size_t>(verdict)];
}

std::string line_of(const TuneDevice& device) {
  return line({{"tune", "device"},
               {"key", key_of(device)},
               {"device", device.name},
               {"driver", device.driver},
               {"toolkit", device.toolkit},
               {"kiln", version()}});
}

std::string line_of(const TuneTrial& trial) {
  Json json = json_of("trial", trial.subject);
  json["shape"] = json_of(trial.shape);
  json["verdict"] = to_string(trial.verdict);
  if (trial.again) json["again"] = true;
  if (trial.verdict == TrialVerdict::measured) {
    json["seconds"] = json_of(trial.seconds);
    json["default_seconds"] = json_of(trial.default_seconds);
    json["gain"] = json_of(trial.gain);
    json["samples"] = trial.samples;
  }
  if (!trial.complaint.empty()) json["complaint"] = trial.complaint;
  return line(json);
}

std::string line_of(const TuneOutcome& outcome) {
  Json json = json_of("outcome", outcome.subject);
  json["workload"] = outcome.workload;
  json["default"] = outcome.default_text;
  json["chosen"] = outcome.chosen ? json_of(*outcome.chosen) : Json(nullptr);
  json["gain"] = json_of(outcome.gain);
  json["space"] = outcome.space;
  json["tried"] = outcome.tried;
  json["wrong"] = outcome.wrong;
  json["failed"] = outcome.failed;
  json["search"] = outcome.search;
  if (!outcome.default_complaint.empty()) json["complaint"] = outcome.default_complaint;
  return line(json);
}

bool is_tune_record(std::string_view line) {
  TuneRecords records;
  return !is_blank(line) && add_line(line, 1, records);
}

TuneRecords read_tune_records(std::string_view text) {
  TuneRecords records;
  records.complete_bytes = text.rfind('\n') + 1;  // npos + 1 is 0
  text = text.substr(0, records.complete_bytes);
  std::int64_t number = 0;
  while (!text.empty() && records.bad_lines < max_bad_tune_lines) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++number;
    if (is_blank(one) || add_line(one, number, records)) continue;
    if (records.bad_lines++ == 0) records.first_bad_line = number;
  }
  return records;
}

}  // namespace kiln
