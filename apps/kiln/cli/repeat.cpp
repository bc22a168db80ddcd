// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/repeat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kiln/kernels/sweeps/draw_naming.hpp"
#include "kiln/schedules/pipeline.hpp"
#include "kiln/version.hpp"

#include "cli/document_file.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

using SortedJson = nlohmann::json;

// Of any verb: what decides the answer. Where it ran and how it was shown does not.
bool is_taken_over(const std::string& option) {
  const OptionSpec* const spec = find_run_option(option);
  return spec != nullptr && spec->use.recorded;
}

const DocumentKind run_document{"run.json", "kiln.run/2", "kiln.run/1",
                                "the run.json that kiln solve or kiln sample wrote (-o or --save)"};

// What a run that continues is told anew.
bool is_output(std::string_view option) {
  constexpr std::array<std::string_view, 12> options{
      "output", "out",    "save",    "json",          "quiet",     "verbose",
      "config", "repeat", "dry-run", "allow-command", "allow-jit", "supervise"};
  return std::ranges::find(options, option) != options.end();
}

bool is_continued(const std::string& option, const SortedJson& entry) {
  const bool given = entry.is_object() && entry.value("origin", "") != to_string(Origin::standard);
  return find_run_option(option) != nullptr && given && !is_output(option);
}

Settings settings_of(const SortedJson& table, const DocumentFile& file, bool all,
                     TakeOver what = TakeOver::what_decides) {
  Settings settings;
  for (const auto& [key, entry] : table.items()) {
    const bool continued = what == TakeOver::all_given && is_continued(key, entry);
    if (!all && !continued && !is_taken_over(key)) continue;
    if (!entry.is_object()) {
      refuse_document(file, run_document,
                      fmt::format("the option '{}' is not a JSON object", clean(key)));
    }
    const SortedJson& value = entry.at("value");
    const bool chosen = all && entry.value("origin", "") == to_string(Origin::standard);
    const std::string text =
        value.is_boolean() ? std::string{} : read_exact_text(value, file, run_document);
    // Parameters of the schedule are shown, and are numbers and words.
    if (all && !is_clean(key + text)) {
      refuse_document(file, run_document,
                      fmt::format("the parameter '{}' has a control character", clean(key)));
    }
    settings[clean(key)] = {text, chosen ? Origin::standard : Origin::config, file.name};
  }
  return settings;
}

// As it stands there: a number beyond the range of its option is refused like any other.
std::string replicas_of(const SortedJson& json, const DocumentFile& file) {
  const SortedJson& replicas = json.at("replicas");
  if (!replicas.is_number_integer()) {
    refuse_document(file, run_document, "the number of replicas is not a whole number");
  }
  return replicas.dump();
}

bool is_pipeline(const SortedJson& json) {
  const SortedJson name = json.at("schedule").value("name", SortedJson());
  return name.is_string() && PipelineText::is_one(name.get<std::string>());
}

// Planes are what a run has that can draw by them, and shared noise is an option of the schedule; a
// run.json of older versions says nothing, and means words. Other options on the command line may
// make planes impossible, so these are no option. The stages of a pipeline draw in different ways:
// only what the user asked for is one.
void repeat_naming(const SortedJson& json, const DocumentFile& file, const RunVerb& verb,
                   RecordedRun& run) {
  const std::string naming = json.value("draws", to_string(DrawNaming::words));
  const auto is_naming = [](const OptionSpec& spec) { return spec.name == "draw-naming"; };
  if (!std::ranges::any_of(verb.specs, is_naming)) return;
  if (is_pipeline(json)) {
    const SortedJson given = json.at("options").value("draw-naming", SortedJson());
    if (given.is_object() && given.value("value", SortedJson()).is_string()) {
      run.config.options["draw-naming"] = {given["value"].get<std::string>(), Origin::config,
                                           file.name};
    }
    return;
  }
  if (naming != to_string(DrawNaming::planes) && naming != to_string(DrawNaming::shared)) {
    run.config.options["draw-naming"] = {naming, Origin::config, file.name};
  }
}

// What a hand has altered is not guessed at. Words beside shared noise are refused by the run.
void check_given(const SortedJson& json, const DocumentFile& file) {
  const SortedJson& given = json.at("schedule").at("given");
  if (!given.is_object()) {
    refuse_document(file, run_document, "the given parameters are not a JSON object");
  }
  const bool wants_shared = given.contains("noise") && given["noise"].is_object() &&
                            given["noise"].value("value", SortedJson()) == "shared";
  if (is_pipeline(json)) return;
  const SortedJson draws = json.value("draws", SortedJson());
  if (draws == to_string(DrawNaming::planes) && wants_shared) {
    refuse_document(file, run_document,
                    "'draws' is 'planes', and the parameter 'noise' is 'shared'");
  }
  if (draws == to_string(DrawNaming::shared) && !wants_shared) {
    refuse_document(file, run_document,
                    "'draws' is 'shared', and the parameter 'noise' is not 'shared'");
  }
}

std::vector<std::string> notes_of(const SortedJson& json, const std::string& name,
                                  const RunVerb& verb) {
  std::vector<std::string> notes;
  const std::string written_by = clean(json.value("kiln", "(unknown version)"));
  if (written_by != version()) {
    notes.push_back(
        fmt::format("{} was written by kiln {}, and this is kiln {}: the answer may differ", name,
                    written_by, version()));
  }
  constexpr std::size_t max_named = 5;
  std::vector<std::string> unknown;
  for (const auto& [key, entry] : json.at("options").items()) {
    const auto is_key = [&key = key](const OptionSpec& spec) { return spec.name == key; };
    const bool known = std::ranges::any_of(verb.specs, is_key) || is_taken_over(key);
    if (!known) unknown.push_back("'" + clean(key) + "'");
  }
  if (unknown.empty()) return notes;
  std::string names;
  for (std::size_t i = 0; i < std::min(unknown.size(), max_named); ++i) {
    names += (i == 0 ? "" : ", ") + unknown[i];
  }
  if (unknown.size() > max_named) names += fmt::format(" and {} more", unknown.size() - max_named);
  notes.push_back(fmt::format("Kiln ignored these options of {}, which kiln {} does not have: {}",
                              name, verb.name, names));
  return notes;
}

// Numbers, words and short lists of them: a note shows them as words for a shell.
bool is_plain(const std::string& value) {
  constexpr std::size_t most = 200;
  return value.size() <= most && std::ranges::all_of(value, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  std::string_view("._,+-").find(c) != std::string_view::npos;
         });
}

// Versions before kiln.run/2 and files from elsewhere may lack them.
RecordedParameters resolved_of(const SortedJson& json, const DocumentFile& file) {
  RecordedParameters resolved{file.name, {}, {}};
  const SortedJson& schedule = json.at("schedule");
  if (schedule.contains("name") && schedule["name"].is_string()) {
    resolved.schedule = schedule["name"].get<std::string>();
  }
  if (!schedule.contains("parameters") || !schedule["parameters"].is_object()) return resolved;
  for (const auto& [name, value] : schedule["parameters"].items()) {
    if (value.is_string() && is_plain(value.get<std::string>())) {
      resolved.values[name] = value.get<std::string>();
    }
  }
  return resolved;
}

// Rounds of annealing grow by default as long as nobody gives their length.
std::string restoring(const std::string& name, const RecordedParameters& recorded) {
  const auto growth = recorded.values.find("growth");
  const bool grows =
      name == "anneal_sweeps" && growth != recorded.values.end() && growth->second == "0";
  return fmt::format("-p {}={}{}", name, recorded.values.at(name), grows ? " -p growth=2" : "");
}

// Whether it is a parameter of a later stage of a pipeline, "2.beta_max": resolved when its stage
// begins, so the record has what the text of the schedule says, and that is the same text.
bool is_of_later_stage(const std::string& name) {
  const std::size_t dot = name.find('.');
  return dot != std::string::npos && dot > 0 && name[0] >= '1' && name[0] <= '9' &&
         name.substr(0, dot) != "1" &&
         std::ranges::all_of(name.substr(0, dot), [](char c) { return c >= '0' && c <= '9'; });
}

// Seed and naming of draws decide answers, but no default.
bool changes_defaults(const std::string& option, const Setting& setting, const RunVerb& verb) {
  if (setting.origin <= Origin::config || option == "seed" || option == "draw-naming") return false;
  return is_taken_over(option) || option == verb.replicas;
}

}  // namespace

std::string changed_parameters(const CommandOptions& options,
                               const std::map<std::string, std::string>& now) {
  if (!options.recorded || options.recorded->schedule != options.schedule) return {};
  const auto changes = [&](const auto& one) {
    return changes_defaults(one.first, one.second, *options.verb);
  };
  if (std::ranges::any_of(options.settings, changes)) return {};
  const auto& recorded = options.recorded->values;
  const auto restart = recorded.find("restart"), restart_now = now.find("restart");
  const bool restarts_change = restart != recorded.end() && restart_now != now.end() &&
                               restart->second != restart_now->second;
  std::string changed;
  for (const auto& [name, then] : recorded) {
    if (is_of_later_stage(name)) continue;
    if (name == "reheat" && restarts_change) continue;  // follows from it
    const auto found = now.find(name);
    const auto given = options.parameters.find(name);
    const bool chosen =
        given != options.parameters.end() && given->second.origin == Origin::command_line;
    if (chosen || found == now.end() || found->second == then) continue;
    changed += fmt::format("{}{} was {} and is {} ({} restores it)", changed.empty() ? "" : ", ",
                           name, then, found->second, restoring(name, *options.recorded));
  }
  if (changed.empty()) return {};
  return fmt::format(
      "this run has other parameters than the run of {}, so the answer may differ: {}",
      options.recorded->file, changed);
}

bool is_run_document(const std::string& path) {
  try {
    read_document(path, run_document);
    return true;
  } catch (const Error&) {
    return false;
  }
}

const RunVerb& recorded_verb(const std::string& path) {
  const DocumentFile file = read_document(path, run_document);
  const SortedJson command = file.json.value("command", SortedJson());
  const bool named = command.is_array() && command.size() > 1 && command[1].is_string();
  const std::string name = named ? command[1].get<std::string>() : "";
  for (const RunVerb* verb : {&solve_verb(), &sample_verb()}) {
    if (verb->name == name) return *verb;
  }
  refuse_document(file, run_document, "the command is neither kiln solve nor kiln sample");
}

RecordedRun read_recorded_run(const std::string& path, const RunVerb& verb, TakeOver what) {
  const DocumentFile file = read_document(path, run_document);
  const SortedJson& json = file.json;
  try {
    RecordedRun run;
    run.problem = read_exact_text(json.at("problem").at("source"), file, run_document);
    const SortedJson& fingerprint = json.at("problem").at("fingerprint");
    if (fingerprint.is_string()) run.fingerprint = fingerprint.get<std::string>();
    if (!json.at("options").is_object()) {
      refuse_document(file, run_document, "the options are not a JSON object");
    }
    run.config.options = settings_of(json.at("options"), file, false, what);
    run.config.options[verb.replicas] = {replicas_of(json, file), Origin::config, file.name};
    check_given(json, file);
    repeat_naming(json, file, verb, run);
    run.config.parameters = settings_of(json.at("schedule").at("given"), file, true);
    if (!json.value("kiln", SortedJson("")).is_string()) {
      refuse_document(file, run_document, "the version of Kiln is not a string");
    }
    run.resolved = resolved_of(json, file);
    run.notes = notes_of(json, file.name, verb);
    // The result of a run that continues is the one that it goes on from.
    const bool repeats = what == TakeOver::what_decides;
    run.continuation = read_continuation(repeats ? path : "", json);
    return run;
  } catch (const SortedJson::exception& error) {
    refuse_document(file, run_document, json_reason(error));
  }
}

void refuse_command(const RecordedRun& run, const std::string& path) {
  if (!run.problem.starts_with("command:")) return;
  // All of it is shown: the middle of a long line would be left out, and could hide anything.
  constexpr std::size_t width = 900, most = 16384;
  std::string shown = escaped(run.problem);
  for (std::size_t at = width; at < shown.size(); at += width + 3) shown.insert(at, "\n  ");
  if (run.problem.size() > most) {
    shown =
        fmt::format("a command line of {} bytes, which is too long to show", run.problem.size());
  }
  throw InvalidArgument(
      "repeat.command", fmt::format("{}: the recorded run calls a program: {}", clean(path), shown),
      "Kiln has not called the program. Anybody may have written the file, and the program can do "
      "anything.",
      "add --allow-command if you trust the program, or name the problem on the command line");
}

}  // namespace kiln::cli
