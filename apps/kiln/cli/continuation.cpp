// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/continuation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "kiln/errors.hpp"

#include "cli/document_file.hpp"
#include "output/solve_text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using SortedJson = nlohmann::json;

constexpr const char* member = "continued";

const DocumentKind result_document{"result.json", "kiln.result/2", "kiln.result/1",
                                   "the result of kiln solve or kiln sample",
                                   std::size_t{256} << 20};

bool is_count(const std::string& text) {
  constexpr std::size_t most_digits = 18;
  return text.size() <= most_digits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<Continuation> continuation_in(const SortedJson& json) {
  const auto at = json.find(member);
  if (at == json.end() || !at->is_object()) return std::nullopt;
  const SortedJson steps = at->value("steps", SortedJson());
  const SortedJson draws = at->value("draws", SortedJson(""));
  if (!steps.is_number_integer() || steps.get<std::int64_t>() <= 0) return std::nullopt;
  if (!draws.is_string() || !is_count(draws.get<std::string>())) return std::nullopt;
  return Continuation{steps.get<std::int64_t>(), draws.get<std::string>()};
}

// Of the folder that the path names, or that the run.json lies in.
fs::path result_beside(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fs::path(path) / "result.json";
  const fs::path file(path);
  return file.filename() == "run.json" ? file.parent_path() / "result.json" : fs::path();
}

}  // namespace

nlohmann::ordered_json Continuation::json() const {
  nlohmann::ordered_json json = {{"steps", steps}};
  if (!draws.empty()) json["draws"] = draws;
  return json;
}

std::string Continuation::note() const {
  return fmt::format(
      "the recorded run was planned for the limits of its run.json, and kiln resume continued it; "
      "this run has the same plan, and ends after the same {} steps of each replica",
      steps);
}

std::optional<Continuation> read_continuation(const std::string& path, const SortedJson& run) {
  const fs::path result = result_beside(path);
  std::error_code ignored;
  if (fs::is_regular_file(result, ignored)) {
    try {
      const DocumentFile file = read_document(result.string(), result_document);
      if (const auto found = continuation_in(file.json)) return found;
    } catch (const Error&) {
      return continuation_in(run);  // a damaged result does not keep its run from being repeated
    }
  }
  return continuation_in(run);
}

std::string continued_result_json(const Result& result) {
  auto json = nlohmann::ordered_json::parse(result_json(result));
  const auto draws = result.parameters.find("draws");
  const bool samples = result.sample && draws != result.parameters.end();
  json[member] = Continuation{result.work.sweeps, samples ? draws->second : ""}.json();
  return json.dump() + "\n";
}

}  // namespace kiln::cli
