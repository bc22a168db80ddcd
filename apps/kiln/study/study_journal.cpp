// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "study/study_journal.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "kiln/errors.hpp"

#include "errors.hpp"
#include "output/text.hpp"
#include "sha256.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json json_of(const StudyRecord& record, const StudyEvent& event) {
  if (event.asked > 0) {
    Json points = Json::array();
    for (const std::int64_t id : event.points) {
      points.push_back({{"id", id}, {"state", record.points.at(id).numbers}});
    }
    return {{"ask", event.asked}, {"points", points}};
  }
  if (!std::isfinite(event.told.value)) return {{"tell", event.told.id}, {"failed", true}};
  return {{"tell", event.told.id},
          {"value", event.told.value},
          {"constraints", event.told.constraints}};
}

void note_told(StudyRecord& record, const Telling& told) {
  StudyPoint& point = record.points.at(told.id);
  point.told = true;
  point.value = told.value;
  point.constraints = told.constraints;
}

/// Reads lines into a record.
class JournalReader {
 public:
  JournalReader(const fs::path& file, const Problem& problem)
      : file_(clean(file.string())), problem_(problem) {}

  StudyRecord read(std::string_view text) {
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
      ++line_;
      take(text.substr(0, end));
      record_.bytes += end + 1;
      text.remove_prefix(end + 1);
    }
    return std::move(record_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw ParseError(file_, {{line_, 0, why, "the lines that kiln ask and kiln tell wrote"}}, 1,
                     "restore the file from a copy, or begin a new study");
  }
  void take(std::string_view line) {
    constexpr std::size_t digits = 16;
    const std::string before = record_.sums.empty() ? "" : record_.sums.back();
    const std::string sum(line.substr(0, digits));
    line.remove_prefix(std::min(line.size(), digits + 1));
    if (sum_of(before, line) != sum) refuse("the line was changed, or a line before it is missing");
    record_.sums.push_back(sum);
    try {
      take_event(Json::parse(line));
    } catch (const nlohmann::json::exception&) {
      refuse("the line is no event of a study");
    } catch (const InvalidArgument& error) {
      refuse(error.message());
    }
  }
  void take_event(const Json& json) {
    StudyEvent event;
    if (json.contains("ask")) {
      event.asked = json.at("ask").get<std::int64_t>();
      for (const Json& one : json.at("points")) {
        StudyPoint point{.id = one.at("id").get<std::int64_t>(),
                         .numbers = one.at("state").get<std::vector<double>>()};
        state_of(problem_, point.numbers);
        event.points.push_back(point.id);
        record_.points.emplace(point.id, std::move(point));
      }
    } else {
      event.told.id = json.at("tell").get<std::int64_t>();
      const bool failed = json.contains("failed");
      event.told.value =
          failed ? std::numeric_limits<double>::quiet_NaN() : json.at("value").get<double>();
      if (!failed) event.told.constraints = json.at("constraints").get<std::vector<double>>();
      if (!record_.points.contains(event.told.id)) refuse("the line tells the value of no point");
      note_told(record_, event.told);
    }
    record_.events.push_back(std::move(event));
  }

  std::string file_;
  const Problem& problem_;
  std::int64_t line_ = 0;
  StudyRecord record_;
};

}  // namespace

std::string sum_of(std::string_view before, std::string_view text) {
  problems::detail::Sha256 hash;
  hash.update(before);
  hash.update(text);
  return hash.hex().substr(0, 16);
}

StudyRecord read_journal(const fs::path& file, const Problem& problem) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError("input.open", clean(file.string()) + " cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return JournalReader(file, problem).read(text);
}

std::string journal_line(StudyRecord& record, const StudyEvent& event) {
  const std::string json = json_of(record, event).dump();
  record.sums.push_back(sum_of(record.sums.empty() ? "" : record.sums.back(), json));
  if (event.asked == 0) note_told(record, event.told);
  record.events.push_back(event);
  return record.sums.back() + " " + json + "\n";
}

}  // namespace kiln::cli
