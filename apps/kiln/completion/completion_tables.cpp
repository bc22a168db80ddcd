// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "completion/completion_tables.hpp"

#include <sstream>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"

#include "bench/suite.hpp"
#include "cli/catalogue.hpp"
#include "commands/commands.hpp"

namespace kiln::cli {
namespace {

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) names.push_back(entry->name);
  return names;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const FormatInfo& info : problems::formats()) names.push_back(info.name);
  return names;
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : suites()) names.push_back(suite.name);
  return names;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  return names;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const KernelInfo& kernel : kernels()) names.push_back(kernel.name);
  return names;
}

/// What `kiln describe` knows.
std::vector<std::string> described_names() {
  std::vector<std::string> names = schedule_names();
  const Registry registry = builtin_registry();
  for (const ProblemEntry* entry : registry.problems()) names.push_back(entry->name);
  for (const std::string& name : format_names()) names.push_back(name);
  for (const std::string& name : kernel_names()) names.push_back(name);
  return names;
}

/// "a | b | c" as words.
std::vector<std::string> alternatives(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (std::istringstream in(text); in >> word;) {
    if (word != "|") words.push_back(word);
  }
  return words;
}

/// "on|off" as words; nothing where the value is called otherwise.
std::vector<std::string> written_out(const std::string& value) {
  std::string spaced;
  for (const char c : value) spaced += c == '|' ? " | " : std::string(1, c);
  return spaced == value ? std::vector<std::string>{} : alternatives(spaced);
}

}  // namespace

std::string words_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

ValueChoice choice_of(const OptionSpec& option) {
  if (option.value.empty()) return {ValueKind::none};
  if (option.value == "FILE") return {ValueKind::file};
  if (option.value == "DIR" || option.value == "RUN") return {ValueKind::folder};
  if (option.value == "KEY=VALUE" || option.value == "NAME=VALUE") return {ValueKind::parameters};
  if (const std::vector<std::string> words = written_out(option.value); !words.empty()) {
    return {ValueKind::words, words};
  }
  if (option.name == "schedule") return {ValueKind::words, schedule_names()};
  if (option.name == "format") return {ValueKind::words, format_names()};
  if (option.name == "device") return {ValueKind::words, {"auto", "cpu", "cuda"}};
  return {ValueKind::any};
}

ValueChoice argument_of(const std::string& usage) {
  const std::size_t blank = usage.find(' ');
  const std::string word = blank == std::string::npos ? "" : usage.substr(blank + 1);
  if (word == "PROBLEM" || word == "WHAT" || word == "SPEC") return {ValueKind::problems};
  if (word == "RUN" || word == "RUN...") return {ValueKind::folder};
  if (word == "NAME") return {ValueKind::words, described_names()};
  if (word == "[KERNEL]") return {ValueKind::words, kernel_names()};
  if (word == "TOPIC") return {ValueKind::words, list_topics()};
  if (word == "SUITE") return {ValueKind::words, suite_names()};
  if (word == "[VERB]") return {ValueKind::words, verb_names()};
  if (word == "SHELL") return {ValueKind::words, completion_shells()};
  return {ValueKind::none};
}

std::vector<NamedWords> parameter_words() {
  std::vector<NamedWords> all;
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    NamedWords one{entry->name, {}};
    for (const FieldInfo& field : entry->fields) {
      one.words.push_back(field.name + "=");
      if (field.type != "choice") continue;
      for (const std::string& value : alternatives(field.range)) {
        one.words.push_back(field.name + "=" + value);
      }
    }
    all.push_back(one);
    for (const std::string& alias : entry->aliases) all.push_back({alias, one.words});
  }
  return all;
}

std::vector<NamedWords> problem_words() {
  std::vector<NamedWords> all;
  const Registry registry = builtin_registry();
  for (const ProblemEntry* entry : registry.problems()) {
    NamedWords one{entry->name, {}};
    if (entry->name == "gset") one.words = problems::gset_names();
    for (const NamedSentence& known : entry->names) {
      // "ackley-D" stands for many names: its size is the user's, as is what stands in brackets.
      const std::string name = known.name.substr(0, known.name.find('['));
      one.words.push_back(name.ends_with("-D") ? name.substr(0, name.size() - 1) : name);
    }
    all.push_back(one);
  }
  return all;
}

}  // namespace kiln::cli
