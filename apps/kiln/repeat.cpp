// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "repeat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "errors.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

// What decides the answer; where it ran and how it was shown does not.
constexpr std::array<const char*, 10> taken_over{"schedule", "seed",   "time-limit", "sweeps",
                                                 "target",   "format", "maximize",   "vartype",
                                                 "colors",   "initial"};

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw ParseError(name, {{0, 0, why, "the run.json that kiln solve -o or --save wrote"}}, 1);
}

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

RecordedRun read_recorded_run(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string file =
      fs::is_directory(path, ignored) ? (fs::path(path) / "run.json").string() : path;
  const std::string name = clean(file);
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw InputError("input.open",
                     fmt::format("{}: cannot be opened: {}", name, std::strerror(errno)));
  }
  try {
    const Json json = Json::parse(in);
    if (!json.is_object() || json.value("schema", "") != "kiln.run/1") {
      refuse(name, "this is not a document of schema kiln.run/1");
    }
    RecordedRun run;
    run.problem = json.at("problem").at("source").get<std::string>();
    const Json& fingerprint = json.at("problem").at("fingerprint");
    if (fingerprint.is_string()) run.fingerprint = fingerprint.get<std::string>();
    run.config.options = settings_of(json.at("options"), name, false);
    run.config.options["replicas"] = {std::to_string(json.at("replicas").get<std::int64_t>()),
                                      Origin::config, name};
    run.config.parameters = settings_of(json.at("schedule").at("given"), name, true);
    return run;
  } catch (const Json::exception& error) {
    refuse(name, clean(error.what()));
  }
}

}  // namespace kiln::cli
