// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "repeat.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "document_file.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

// What decides the answer; where it ran and how it was shown does not.
constexpr std::array<const char*, 21> taken_over{
    "schedule", "seed",        "time-limit", "sweeps", "target",      "format",  "maximize",
    "vartype",  "colors",      "initial",    "data",   "draws",       "warmup",  "objective",
    "sense",    "categorical", "ignore",     "var",    "constraints", "timeout", "past"};

const DocumentKind run_document{"run.json", "kiln.run/1",
                                "the run.json that kiln solve -o or --save wrote"};

Settings settings_of(const Json& table, const std::string& name, bool all) {
  Settings settings;
  for (const auto& [key, entry] : table.items()) {
    if (!all && std::ranges::find(taken_over, key) == taken_over.end()) continue;
    const Json& value = entry.at("value");
    settings[clean(key)] = {value.is_boolean() ? std::string{} : clean(value.get<std::string>()),
                            Origin::config, name};
  }
  return settings;
}

}  // namespace

RecordedRun read_recorded_run(const std::string& path, const RunVerb& verb) {
  const DocumentFile file = read_document(path, run_document);
  const Json& json = file.json;
  try {
    RecordedRun run;
    run.problem = json.at("problem").at("source").get<std::string>();
    const Json& fingerprint = json.at("problem").at("fingerprint");
    if (fingerprint.is_string()) run.fingerprint = fingerprint.get<std::string>();
    run.config.options = settings_of(json.at("options"), file.name, false);
    run.config.options[verb.replicas] = {std::to_string(json.at("replicas").get<std::int64_t>()),
                                         Origin::config, file.name};
    run.config.parameters = settings_of(json.at("schedule").at("given"), file.name, true);
    return run;
  } catch (const Json::exception& error) {
    refuse_document(file, run_document, clean(error.what()));
  }
}

}  // namespace kiln::cli
