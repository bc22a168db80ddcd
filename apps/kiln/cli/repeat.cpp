// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/repeat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kiln/kernels/sweeps/draw_naming.hpp"
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

Settings settings_of(const SortedJson& table, const DocumentFile& file, bool all) {
  Settings settings;
  for (const auto& [key, entry] : table.items()) {
    if (!all && !is_taken_over(key)) continue;
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

// Planes are what a run has that can draw by them, and shared noise is an option of the schedule; a
// run.json of older versions says nothing, and means words. Other options on the command line may
// make planes impossible, so these are no option.
void repeat_naming(const SortedJson& json, const DocumentFile& file, const RunVerb& verb,
                   RecordedRun& run) {
  const std::string naming = json.value("draws", to_string(DrawNaming::words));
  const auto is_naming = [](const OptionSpec& spec) { return spec.name == "draw-naming"; };
  if (!std::ranges::any_of(verb.specs, is_naming)) return;
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

}  // namespace

bool is_run_document(const std::string& path) {
  try {
    read_document(path, run_document);
    return true;
  } catch (const Error&) {
    return false;
  }
}

RecordedRun read_recorded_run(const std::string& path, const RunVerb& verb) {
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
    run.config.options = settings_of(json.at("options"), file, false);
    run.config.options[verb.replicas] = {replicas_of(json, file), Origin::config, file.name};
    check_given(json, file);
    repeat_naming(json, file, verb, run);
    run.config.parameters = settings_of(json.at("schedule").at("given"), file, true);
    if (!json.value("kiln", SortedJson("")).is_string()) {
      refuse_document(file, run_document, "the version of Kiln is not a string");
    }
    run.notes = notes_of(json, file.name, verb);
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
