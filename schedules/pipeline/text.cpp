// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Pipelines as text.
#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "kiln/errors.hpp"
#include "kiln/schedules/pipeline.hpp"

namespace kiln {
namespace {

struct Word {
  std::string text;
  std::size_t column = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[noreturn]] void refuse(std::size_t at, const std::string& what,
                           const std::string& expected = {}, Fix fix = {}) const {
    throw InvalidArgument("schedule.text",
                          "column " + std::to_string(at + 1) + " of the schedule: " + what,
                          expected, std::move(fix));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }
  std::size_t place() {
    skip_spaces();
    return at_;
  }

  Word name() {
    Word word{{}, place()};
    while (at_ < text_.size() && is_of_name(text_[at_])) word.text += text_[at_++];
    return word;
  }

  Word value(const std::string& of) {
    Word word{{}, place()};
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '\'' || first == '"') {
      const std::size_t end = text_.find(first, at_ + 1);
      if (end == std::string_view::npos) {
        refuse(at_, "the quote that begins here does not end", {},
               "put the other quote after the value");
      }
      word.text = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return word;
    }
    while (at_ < text_.size() && !ends_value(text_[at_])) word.text += text_[at_++];
    while (!word.text.empty() && word.text.back() == ' ') word.text.pop_back();
    if (word.text.empty()) refuse(word.column, "'" + of + "' has no value", "name=value");
    return word;
  }

  std::string shown() const {
    return at_ < text_.size() ? "'" + std::string(1, text_[at_]) + "'" : std::string("the end");
  }

 private:
  static bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  }
  static bool ends_value(char c) {
    return c == ',' || c == ')' || c == '(' || c == '>' || c == '\'' || c == '"';
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<double> seconds_of(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number > 0) || number > 1e9) return {};
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (unit.empty() || unit == "s") return number;
  if (unit == "ms") return number / 1000;
  if (unit == "m" || unit == "min") return 60 * number;
  if (unit == "h") return 3600 * number;
  return {};
}

std::optional<std::int64_t> count_of(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < 1) return {};
  return number;
}

// Whether a parameter is a limit of the stage, which is then set.
bool take_limit(const Reader& reader, const Word& name, const Word& value, StageLimit& limit) {
  if (name.text == "sweeps") {
    limit.sweeps = count_of(value.text);
    if (!limit.sweeps) {
      reader.refuse(value.column, "sweeps=" + value.text + " is not a number of sweeps",
                    "1 or more");
    }
    return true;
  }
  if (name.text != "time_limit" && name.text != "time-limit") return false;
  limit.time_limit_s = seconds_of(value.text);
  if (!limit.time_limit_s) {
    reader.refuse(value.column, name.text + "=" + value.text + " is not a time",
                  "more than 0: 10s, 500ms, 2m, 1h");
  }
  return true;
}

void check_parameter(const Reader& reader, const Word& name, const ScheduleEntry& entry) {
  std::vector<std::string> names{"sweeps", "time_limit", "time-limit"};
  for (const FieldInfo& field : entry.fields) {
    names.push_back(field.name);
    for (const std::string& former : field.former_names) {
      if (former == name.text) return;
    }
  }
  if (std::ranges::count(names, name.text) > 0) return;
  const std::string near = nearest_name(name.text, names);
  reader.refuse(name.column,
                "'" + name.text + "' is no parameter of '" + entry.name + "'" +
                    (near.empty() ? "" : "; the nearest is '" + near + "'"),
                "the parameters of the schedule, sweeps and time_limit");
}

void read_parameters(Reader& reader, const ScheduleEntry& entry, StageText& stage) {
  const std::size_t bracket = reader.place() - 1;
  if (reader.take(')')) return;
  do {
    if (reader.at_end()) reader.refuse(bracket, "the bracket that opens here is not closed");
    const Word name = reader.name();
    if (name.text.empty()) {
      reader.refuse(name.column, "a parameter is missing before " + reader.shown(), "name=value");
    }
    if (!reader.take('=')) {
      if (reader.at_end()) reader.refuse(bracket, "the bracket that opens here is not closed");
      reader.refuse(name.column, "'" + name.text + "' has no value",
                    "name=value; a value with commas stands in quotes");
    }
    check_parameter(reader, name, entry);
    const Word value = reader.value(name.text);
    const bool given_before = stage.parameters.contains(name.text) ||
                              (name.text == "sweeps" && stage.limit.sweeps) ||
                              (name.text.starts_with("time") && stage.limit.time_limit_s);
    if (given_before) reader.refuse(name.column, "'" + name.text + "' is given twice");
    if (!take_limit(reader, name, value, stage.limit)) stage.parameters[name.text] = value.text;
  } while (reader.take(','));
  if (reader.take(')')) return;
  if (reader.at_end()) reader.refuse(bracket, "the bracket that opens here is not closed");
  reader.refuse(reader.place(), "unexpected " + reader.shown() + " after a value", "',' or ')'");
}

std::string quoted(const std::string& value) {
  const bool is_plain = value.find_first_of(",()>'\" ") == std::string::npos && !value.empty();
  const char quote = value.find('\'') == std::string::npos ? '\'' : '"';
  return is_plain ? value : quote + value + quote;
}

std::string text_of(const StageText& stage) {
  std::vector<std::string> parts;
  if (stage.limit.sweeps) parts.push_back("sweeps=" + std::to_string(*stage.limit.sweeps));
  if (stage.limit.time_limit_s) {
    parts.push_back("time_limit=" + detail::show_real(*stage.limit.time_limit_s) + "s");
  }
  for (const auto& [name, value] : stage.parameters) parts.push_back(name + "=" + quoted(value));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return stage.schedule + (text.empty() ? "" : "(" + text + ")");
}

const ScheduleEntry& entry_of(const Word& name, const Registry& registry) {
  try {
    return registry.schedule(name.text);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(
        error.code(),
        "column " + std::to_string(name.column + 1) + " of the schedule: " + error.message(),
        error.expected(), error.fix_steps());
  }
}

// The parameters of a stage are complained about where the text is read, not where it is used.
void check_values(const Reader& reader, std::size_t column, const ScheduleEntry& entry,
                  const StageText& stage) {
  try {
    entry.make(stage.parameters);
  } catch (const InvalidArgument& error) {
    reader.refuse(column, error.message(), error.expected(), error.fix_steps());
  }
}

}  // namespace

PipelineText::PipelineText(std::string_view text, const Registry& registry) {
  Reader reader(text);
  do {
    const Word name = reader.name();
    if (name.text.empty()) {
      reader.refuse(name.column, "a stage is missing before " + reader.shown(),
                    "the name of a schedule");
    }
    const ScheduleEntry& entry = entry_of(name, registry);
    StageText stage;
    stage.schedule = entry.name;
    if (reader.take('(')) read_parameters(reader, entry, stage);
    check_values(reader, name.column, entry, stage);
    canonical_ += (canonical_.empty() ? "" : " > ") + text_of(stage);
    entries_.push_back(std::make_shared<const ScheduleEntry>(entry));
    stages_.push_back(std::move(stage));
  } while (reader.take('>'));
  if (!reader.at_end()) {
    reader.refuse(reader.place(), "unexpected " + reader.shown(),
                  "'>' and the next stage, or '(' and parameters");
  }
}

std::unique_ptr<Pipeline> PipelineText::make() const {
  std::vector<Stage> stages;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages.push_back({entries_[i]->make(stages_[i].parameters), stages_[i].limit});
  }
  return std::make_unique<Pipeline>(std::move(stages));
}

ScheduleEntry PipelineText::entry() const {
  ScheduleEntry entry;
  entry.name = canonical_;
  entry.sentence = "schedules that follow each other on the same replicas";
  entry.make = [text = *this](const std::map<std::string, std::string>& parameters) {
    if (!parameters.empty()) {
      throw InvalidArgument("schedule.text",
                            "'" + parameters.begin()->first + "' is no parameter of a pipeline",
                            "parameters stand in the brackets of their stage");
    }
    return std::unique_ptr<Schedule>(text.make());
  };
  return entry;
}

}  // namespace kiln
