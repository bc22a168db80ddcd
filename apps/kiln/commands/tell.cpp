// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kiln/option_info.hpp"

#include "cli/arguments.hpp"
#include "cli/document_file.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/interruption.hpp"
#include "study/study_folder.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t max_words = 20;  // a folder, an id, a value and constraints
constexpr char minus_mark = '\x01';    // before a number that would look like an option

// -0.5 is a value here, and no option.
Words with_marks(const Words& words) {
  Words marked;
  for (const std::string& word : words) {
    const bool negative = word.starts_with('-') && number_in(word);
    marked.push_back(negative ? minus_mark + word : word);
  }
  return marked;
}

double number_of(const std::string& word, const std::string& place) {
  const std::optional<double> number = number_in(word);
  if (number) return *number;
  throw InvalidArgument("study.value", fmt::format("{}'{}' is not a number", place, clean(word)),
                        "ID VALUE, with the values of constraints behind it, or ID failed",
                        "kiln tell lab 1 0.25");
}

std::int64_t id_of(const std::string& word, const std::string& place) {
  const double id = number_of(word, place);
  if (id >= 1 && id < 0x1p53 && id == std::floor(id)) return static_cast<std::int64_t>(id);
  throw InvalidArgument("study.value",
                        fmt::format("{}'{}' is no id of a point", place, clean(word)),
                        "the number that kiln ask printed before the point");
}

/// @param words  ID VALUE G..., or ID failed
Telling telling_of(const Words& words, const std::string& place) {
  Telling told;
  told.id = id_of(words.at(0), place);
  told.value = nan;
  if (words.size() < 2) {
    throw InvalidArgument(
        "cli.missing", fmt::format("{}point {} needs a value", place, told.id), {},
        fmt::format("kiln tell RUN {} 0.25, or kiln tell RUN {} --failed", told.id, told.id));
  }
  if (words[1] == "failed") return told;
  told.value = number_of(words[1], place);
  for (std::size_t w = 2; w < words.size(); ++w) {
    told.constraints.push_back(number_of(words[w], place));
  }
  // Squares of values must be numbers: models of the objective take their variance.
  constexpr double largest = 1e150;
  const auto is_bad = [](double x) { return !(std::abs(x) <= largest); };
  const bool bad_value = std::isfinite(told.value) && is_bad(told.value);
  const bool bad_constraint =
      std::isfinite(told.value) && std::ranges::any_of(told.constraints, is_bad);
  if (bad_value || bad_constraint) {
    throw InvalidArgument(
        "study.value",
        fmt::format("{}point {} has a {} that is no number of at most 1e150 in size", place,
                    told.id, bad_value ? "value" : "constraint"),
        {}, fmt::format("scale it, or kiln tell RUN {} --failed", told.id));
  }
  if (!std::isfinite(told.value)) told.constraints.clear();
  return told;
}

std::vector<Telling> tellings_of_input() {
  std::vector<Telling> all;
  int number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    std::istringstream in(line);
    const Words words{std::istream_iterator<std::string>(in), {}};
    if (words.empty() || words[0].starts_with('#')) continue;
    all.push_back(telling_of(words, fmt::format("line {}: ", number)));
  }
  if (std::cin.bad()) throw std::ios_base::failure("standard input");
  return all;
}

bool is_same(const StudyPoint& point, const Telling& told) {
  const bool both_failed = !std::isfinite(point.value) && !std::isfinite(told.value);
  return both_failed || (point.value == told.value && point.constraints == told.constraints);
}

/// Whether this is new. What was told before may be told again, as it was: who was killed after it
/// does not know that.
bool is_news(const StudyFolder& folder, const StudyRecord& record, const Telling& told) {
  const std::string name = clean(folder.path().string());
  const auto known = record.points.find(told.id);
  if (known == record.points.end()) {
    throw InvalidArgument("study.point", fmt::format("{} has no point {}", name, told.id), {},
                          "kiln ask " + name + " --status lists the pending points");
  }
  const auto wanted = static_cast<std::size_t>(folder.problem().objective->constraints());
  if (std::isfinite(told.value) && told.constraints.size() != wanted) {
    throw InvalidArgument("study.value",
                          fmt::format("point {} has {} constraint values; expected {}", told.id,
                                      told.constraints.size(), wanted));
  }
  if (!known->second.told) return true;
  if (is_same(known->second, told)) return false;
  throw InvalidArgument("study.told",
                        std::isfinite(known->second.value)
                            ? fmt::format("point {} of {} has the value {} already", told.id, name,
                                          known->second.value)
                            : fmt::format("point {} of {} has failed already", told.id, name),
                        "a value never changes, because later points depend on it");
}

StudyRecord tell(const StudyFolder& folder, const std::vector<Telling>& all) {
  const StudyLock lock(folder);
  StudyRecord record = folder.read();
  folder.repair(record);
  std::vector<StudyEvent> events;
  StudyRecord next = record;
  for (const Telling& told : all) {
    if (!is_news(folder, next, told)) continue;
    StudyPoint& point = next.points.at(told.id);
    point.told = true, point.value = told.value, point.constraints = told.constraints;
    events.push_back({.told = told});
  }
  if (!events.empty()) folder.append(record, events);
  for (const StudyEvent& event : events) folder.forget(event.told.id);
  folder.write_table(record);
  return record;
}

void release(const StudyFolder& folder, std::int64_t id) {
  const StudyLock lock(folder);
  const StudyRecord record = folder.read();
  folder.repair(record);
  const auto known = record.points.find(id);
  const std::string name = clean(folder.path().string());
  if (known == record.points.end() || known->second.told) {
    throw InvalidArgument("study.point", fmt::format("point {} of {} is not pending", id, name), {},
                          "kiln ask " + name + " --status lists the pending points");
  }
  folder.release(id);
}

void print_record(const StudyFolder& folder, const StudyRecord& record,
                  const Arguments& arguments) {
  const StudyPoint* const best = record.best(folder.problem().units.sense);
  if (arguments.has("json")) {
    Json json = {{"schema", "kiln.tell/1"},
                 {"evaluations", record.told()},
                 {"failed", record.failed()},
                 {"pending", record.pending().size()},
                 {"best", nullptr}};
    if (best != nullptr) {
      json["best"] = folder.document_of(*best);
      json["best"]["value"] = best->value;
    }
    return print_result(document_text(json, -1));
  }
  std::string text = fmt::format("told   {} evaluations", record.told());
  if (record.failed() > 0) text += fmt::format(" ({} failed)", record.failed());
  text += fmt::format("   {} pending", record.pending().size());
  if (best != nullptr) text += fmt::format("   best {} at point {}", best->value, best->id);
  print_text(text + "\n");
}

}  // namespace

const std::vector<OptionSpec>& tell_specs() {
  static const std::vector<OptionSpec> specs{
      {"failed", 0, "", "the point has no value: its evaluation failed"},
      {"release", 0, "", "nobody evaluates the point any more: the next kiln ask gives it again"},
      {"json", 0, "", "print one JSON document"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

std::string tell_help() {
  return "usage: kiln tell RUN ID VALUE [CONSTRAINT...]\n"
         "       kiln tell RUN ID --failed|--release\n"
         "       kiln tell RUN -\n\n" +
         paragraph(
             "Tells a study the value of a point that kiln ask printed. Values may come in any "
             "order. With - it reads them from standard input, a line for each: ID VALUE "
             "[CONSTRAINT...] or ID failed; it takes all of them or none. A value that was told "
             "cannot change; the same value may be told again.") +
         "\noptions:\n" + describe_options(tell_specs()) +
         "\nexamples:\n"
         "  kiln tell lab 3 0.25\n"
         "  kiln tell lab 4 --failed\n"
         "  printf '5 0.31\\n6 failed\\n' | kiln tell lab -\n";
}

ExitCode run_tell(const Words& words) {
  Arguments arguments = parse_arguments("tell", with_marks(words), tell_specs(), max_words);
  if (arguments.has("help")) {
    print_text(tell_help());
    return ExitCode::ok;
  }
  Words& given = arguments.positional;
  for (std::string& word : given) {
    if (word.starts_with(minus_mark)) word.erase(0, 1);
  }
  if (given.size() < 2 || given.front().empty()) {
    throw InvalidArgument("cli.missing", "kiln tell needs the folder of a study and a point", {},
                          "kiln tell lab 1 0.25");
  }
  const bool failed = arguments.has("failed"), releases = arguments.has("release");
  if ((failed && releases) || ((failed || releases) && given.size() > 2)) {
    throw InvalidArgument("cli.conflict", "--failed, --release and a value exclude each other", {},
                          "kiln tell lab 1 --failed");
  }
  const EndBySignal interruptible("telling " + clean(given.front()));
  const StudyFolder folder(given.front());
  if (releases) {
    release(folder, id_of(given[1], ""));
    print_record(folder, folder.read(), arguments);
    return ExitCode::ok;
  }
  std::vector<Telling> all;
  if (given[1] == "-") {
    all = tellings_of_input();
  } else {
    Words one(given.begin() + 1, given.end());
    if (failed) one.emplace_back("failed");
    all.push_back(telling_of(one, ""));
  }
  print_record(folder, tell(folder, all), arguments);
  return ExitCode::ok;
}

}  // namespace kiln::cli
