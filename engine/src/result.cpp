// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/result.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kiln/device/vector_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"

#include "memory/memory_json.hpp"
#include "profile/profile_json.hpp"
#include "statistics/sample_json.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

// Integers are written as integers: 13359, not 13359.0.
Json number(double value, bool integral) {
  if (integral && std::abs(value) <= 9007199254740992.0) return static_cast<std::int64_t>(value);
  if (!std::isfinite(value)) return nullptr;
  return value;
}

Json optional_number(const std::optional<double>& value, bool integral) {
  return value ? number(*value, integral) : Json(nullptr);
}

Json solution_json(const State& state) {
  const auto block_json = [](const BlockValues& block) {
    return std::visit([](const auto& values) { return Json(values); }, block);
  };
  if (state.size() == 1) return block_json(state.front());
  Json blocks = Json::array();
  for (const BlockValues& block : state) blocks.push_back(block_json(block));
  return blocks;
}

Json front_json(const Front& front) {
  const auto shown = [&](const std::vector<double>& values) {
    Json list = Json::array();
    for (std::size_t k = 0; k < values.size(); ++k) {
      list.push_back(number(front.shown(k, values[k]), false));
    }
    return list;
  };
  Json points = Json::array(), solutions = Json::array(), senses = Json::array();
  for (const FrontMember& member : front.members) {
    points.push_back(shown(member.values));
    solutions.push_back(solution_json(member.state));
  }
  for (const bool maximized : front.maximized)
    senses.push_back(maximized ? "maximize" : "minimize");
  const bool empty = front.members.empty();
  Json nearest = Json::array();
  for (const FrontMember& member : front.nearest) {
    nearest.push_back({{"values", shown(member.values)},
                       {"violation", number(member.violation, false)},
                       {"solution", solution_json(member.state)}});
  }
  return {{"objectives", front.names},
          {"senses", std::move(senses)},
          {"hypervolume", number(front.hypervolume, false)},
          {"half_width", front.half_width},
          {"ideal", shown(front.box.ideal)},
          {"nadir", shown(front.box.nadir)},
          {"reference", shown(front.box.reference_values())},
          {"knee", !empty && has_knee(front.points()) ? Json(front.knee) : Json(nullptr)},
          {"chosen", empty ? Json(nullptr) : Json(front.chosen)},
          {"extremes", front.extremes},
          {"candidates", front.candidates},
          {"infeasible", front.infeasible},
          {"nearest", std::move(nearest)},
          {"points", std::move(points)},
          {"solutions", std::move(solutions)}};
}

Json model_json(const ModelSummary& model) {
  Json lengths = Json::object();
  for (const auto& [name, length] : model.lengths) lengths[name] = number(length, false);
  return {{"lengths", std::move(lengths)},
          {"noise", number(model.noise, false)},
          {"spread", number(model.spread, false)},
          {"fit", number(model.fit, false)},
          {"fit_in_words", model.fit_in_words()}};
}

Json counters_json(const Counters& c) {
  return {{"launches", c.launches},
          {"graph_launches", c.graph_launches},
          {"allocations", c.allocations},
          {"copies", c.copies},
          {"synchronizations", c.synchronizations}};
}

Json incumbents_json(const Result& result) {
  Json json = {{"count", result.incumbents_found},
               {"primal_integral", number(result.primal_integral.value_or(0), false)},
               {"relative_to", result.best_known ? "best_known" : "best"}};
  if (!result.best_known) return json;
  Json table = Json::array();
  for (const TimeToGap& row : result.time_to_gap) {
    table.push_back({{"gap", row.gap}, {"time_s", row.time_s}, {"sweeps", row.sweeps}});
  }
  json["time_to_gap"] = std::move(table);
  return json;
}

// Only what the schedule counts, and the limit only where there is one.
Json work_json(const Work& work) {
  Json json = {{"sweeps", work.sweeps},
               {"replicas", work.replicas},
               {"attempts", number(work.attempts, true)}};
  if (work.gradients) json["gradients"] = *work.gradients;
  if (work.evaluations) json["evaluations"] = *work.evaluations;
  json["ticks"] = work.ticks;
  json["accepted"] = work.accepted;
  json["not_finite"] = work.not_finite;
  json["unit"] = to_string(work.kind);
  if (work.limit) json["limit"] = *work.limit;
  return json;
}

template <class T>
const std::vector<T>& single_block(const State& state, const char* wanted) {
  if (state.size() == 1) {
    if (const auto* values = std::get_if<std::vector<T>>(&state.front())) return *values;
  }
  throw InvalidArgument("result.solution",
                        std::string("the solution is not a single block of ") + wanted);
}

[[noreturn]] void refuse_without_draws(const Result& result) {
  const auto mode = result.parameters.find("mode");  // some schedules sample in one of their modes
  throw InvalidArgument(
      "result.no_draws",
      fmt::format("a run of schedule '{}'{} keeps no draws", result.schedule,
                  mode == result.parameters.end() ? "" : " with mode=" + mode->second),
      "a run that samples",
      Fix::choose_schedule("samples").or_else("make_posterior() instead of make_problem()"));
}

}  // namespace

const char* to_string(WorkKind kind) noexcept {
  switch (kind) {
    case WorkKind::attempts:
      return "attempts";
    case WorkKind::gradients:
      return "gradients";
    case WorkKind::evaluations:
      return "evaluations";
  }
  return "?";
}

const char* to_string(Stop stop) noexcept {
  switch (stop) {
    case Stop::target_reached:
      return "target_reached";
    case Stop::time_limit:
      return "time_limit";
    case Stop::sweep_limit:
      return "sweep_limit";
    case Stop::evaluation_limit:
      return "evaluation_limit";
    case Stop::gain_limit:
      return "gain_limit";
    case Stop::work_limit:
      return "work_limit";
    case Stop::converged:
      return "converged";
    case Stop::interrupted:
      return "interrupted";
    case Stop::terminated:
      return "terminated";
    case Stop::unfinished:
      return "unfinished";
    case Stop::failed:
      return "failed";
    case Stop::observer:
      return "observer";
  }
  return "?";
}

void Result::compute_gap() noexcept {
  if (!best_known || *best_known == 0) return;
  const double worse = sense == Sense::maximize ? *best_known - objective : objective - *best_known;
  gap = worse / std::abs(*best_known);
}

double Result::violation() const noexcept {
  return total_violation(constraints.data(), static_cast<int>(constraints.size()));
}

bool Result::misses_target() const noexcept {
  // The device decided by its own value, which may differ by rounding.
  if (!target || stop == Stop::target_reached) return false;
  return sense == Sense::maximize ? !(objective >= *target - target_tolerance)
                                  : !(objective <= *target + target_tolerance);
}

State Result::whole_state(const State& state) const {
  return whole ? whole(spans_of(state)) : state;
}

std::string Result::brief_report() const {
  std::string text =
      integral ? fmt::format("best {:.0f}", objective) : fmt::format("best {}", objective);
  if (gap) text += fmt::format(" (gap {:.3f} %)", 100 * *gap);
  const std::string end = stopped_by.empty() ? to_string(stop) : "stopped by " + stopped_by;
  text += fmt::format(", {} after {:.1f} s", end, time.run_s);
  if (!feasible()) {
    text += fmt::format(", NOT FEASIBLE by {}", violation());
  } else if (!verified) {
    text += ", NOT VERIFIED";
  }
  return text;
}

std::string Result::to_json() const {
  Json json;
  json["schema"] = "kiln.result/2";
  json["problem"] = {{"name", problem}, {"family", family}, {"notes", notes}};
  json["schedule"] = {{"name", schedule}, {"step", step}, {"parameters", parameters}};
  json["device"] = {
      {"name", device},
      {"description", device_description},
      {"fallback_reason", fallback_reason.empty() ? Json(nullptr) : Json(fallback_reason)},
      {"executor", to_string(executor.executor)},
      {"executor_reason", executor.reason},
      {"graph_capture", executor.executor != Executor::stream}};
  json["seed"] = seed;
  json["draws"] = to_string(draw_naming);
  json["objective"] = {{"name", value_name},
                       {"sense", sense == Sense::maximize ? "maximize" : "minimize"},
                       {"best", number(objective, integral)},
                       {"best_known", optional_number(best_known, integral)},
                       {"gap", optional_number(gap, false)},
                       {"target", optional_number(target, false)},
                       {"target_reached", target ? Json(!misses_target()) : Json(nullptr)}};
  json["energy"] = number(energy, integral);
  json["stop"] = to_string(stop);
  if (commands != CommandCounts{}) {
    json["commands"] = {{"applied", commands.applied}, {"refused", commands.refused}};
  }
  if (!stopped_by.empty()) json["stopped_by"] = stopped_by;
  json["verified"] = verified;
  if (!constraints.empty()) {
    Json values = Json::array();
    for (const double value : constraints) values.push_back(number(value, false));
    json["constraints"] = {{"feasible", feasible()},
                           {"violation", number(violation(), false)},
                           {"values", std::move(values)}};
  }
  json["work"] = work_json(work);
  json["queue"] = {{"total", counters_json(work.device)},
                   {"in_ticks", counters_json(work.in_ticks)}};
  if (!incumbents.empty()) json["incumbents"] = incumbents_json(*this);
  json["time"] = {{"setup_s", time.setup_s}, {"run_s", time.run_s}, {"to_best_s", time.to_best_s}};
  for (const StageResult& one : stages) {
    json["stages"].push_back({{"schedule", one.schedule},
                              {"sweeps", one.sweeps},
                              {"run_s", one.run_s},
                              {"best", optional_number(one.best, integral)}});
  }
  if (memory.arrays > 0) json["memory"] = memory_json(memory);
  if (profile) json["profile"] = profile_json(*profile);
  if (hardware) json["hardware"] = hardware_json(*hardware);
  json["diagnostics"] = diagnostics;
  json["series"] = series;
  json["advice"] = advice;
  if (!until.empty()) json["until"] = until_json(until);
  if (sample && sample_summary) {
    json["sample"] = sample_json(*sample, *sample_summary);
    json["summary"] = quantities_json(*sample_summary);
  }
  if (evaluations && !evaluations->model.lengths.empty()) {
    json["model"] = model_json(evaluations->model);
  }
  if (front) json["front"] = front_json(*front);
  json["best_replica"] = best_replica;
  json["solution"] = solution_json(whole_solution());
  for (const auto& [name, value] : named_solution) json["named_solution"][name] = value;
  if (!top.empty()) {
    Json list = Json::array();
    for (const Solution& one : top) {
      list.push_back({{"objective", number(one.objective, integral)},
                      {"energy", number(one.energy, integral)},
                      {"count", one.count},
                      {"replica", one.replica},
                      {"solution", solution_json(whole_state(one.state))}});
    }
    json["top"] = std::move(list);
  }
  // Names may be file names, which are bytes of any kind.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const std::vector<std::int8_t>& Result::spins() const {
  return single_block<std::int8_t>(solution, "spins or bits");
}
const std::vector<std::int32_t>& Result::permutation() const {
  return single_block<std::int32_t>(solution, "a permutation");
}
const std::vector<double>& Result::reals() const { return single_block<double>(solution, "reals"); }

const SampleSummary& Result::summary() const {
  if (!sample_summary) refuse_without_draws(*this);
  return *sample_summary;
}
const Sample& Result::draws() const {
  if (!sample) refuse_without_draws(*this);
  return *sample;
}

}  // namespace kiln
