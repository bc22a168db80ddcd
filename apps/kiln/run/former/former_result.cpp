// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/former/former_result.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kiln/errors.hpp"

#include "report/run_files.hpp"
#include "run/initial_states.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

bool is_feasible(const Problem& problem, const State& state) {
  if (!problem.solution.constraint_values) return true;
  return std::ranges::all_of(problem.solution.constraint_values(spans_of(state)),
                             [](double value) { return value <= 0; });
}

}  // namespace

std::optional<FormerResult> FormerResult::read(const std::string& folder) {
  const fs::path file = fs::path(folder) / "result.json";
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  std::ifstream in(file);
  const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  FormerResult former;
  former.folder_ = folder;
  former.stop_ = text_at(json, {"stop"}).value_or("");
  former.has_draws_ = json.contains("sample");
  former.is_extended_ = json.contains("continued");
  former.steps_ = static_cast<std::int64_t>(number_at(json, {"work", "sweeps"}).value_or(0));
  if (const auto unit = text_at(json, {"work", "unit"})) {
    former.work_ = number_at(json, {"work", unit->c_str()}).value_or(0);
  }
  return former;
}

void FormerResult::find_best(const Problem& problem) {
  const auto& verify = problem.solution.verify;
  if (problem.objectives || problem.experiment || !verify) return;
  try {
    const std::string file = (fs::path(folder_) / "solution.txt").string();
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return;
    const std::vector<State> states = read_initial_states(file, problem);
    if (states.size() != 1 || !is_feasible(problem, states.front())) return;
    const double value = verify(spans_of(states.front()));
    if (std::isfinite(value)) best_ = Best{states.front(), value};
  } catch (const Error&) {
    best_.reset();  // no solution of this problem
  }
}

void FormerResult::improve(Result& result, const Problem& problem) const {
  if (!best_ || result.sample || result.front) return;
  const double value = best_->value;
  const bool better =
      problem.units.sense == Sense::maximize ? value > result.objective : value < result.objective;
  if (result.verified && !better) return;
  result.verified = true;
  result.solution = best_->state;
  result.objective = value;
  result.energy = problem.units.energy_of_stored(problem.stored_of(value));
  const std::vector<BlockSpan> solution = spans_of(result.solution);
  if (problem.solution.constraint_values) {
    result.constraints = problem.solution.constraint_values(solution);
  }
  if (problem.solution.named_values) {
    result.named_solution = problem.solution.named_values(solution);
  }
  result.compute_gap();
  result.advice.push_back(
      "The best value was in this folder before: the run had found it at its former limit, behind "
      "its checkpoint, and has found none as good since.");
}

}  // namespace kiln::cli
