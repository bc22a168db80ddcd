// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench commands: how soon a run obeys, and whether a million commands arrive.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/commands/senders.hpp"
#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CommandsCase {
  const char* what;  ///< "single" or "many"
  const char* schedule;
  const char* instance;
  std::int64_t replicas;

  std::string name() const {
    return fmt::format("{}: {} {}, {} replicas", what, schedule, instance, replicas);
  }
  bool many() const { return std::string_view(what) == "many"; }
};

// Ticks of some microseconds and of a tenth of a millisecond; many commands where ticks are short.
constexpr std::array<CommandsCase, 4> all_cases{{
    {"single", "parallel-tempering", "torus:10x10,1", 4096},
    {"single", "parallel-tempering", "gset:G1", 4096},
    {"single", "simulated-annealing", "gset:G22", 4096},
    {"many", "parallel-tempering", "torus:10x10,1", 1024},
}};

constexpr std::int64_t many_commands = 1000000, many_commands_quick = 10000;
constexpr std::int64_t min_single = 200, max_single = 4000;
constexpr double seconds_of_single = 4e-3;  // about, of a command and the wait before it

struct Row {
  CommandsCase which;
  Executor executor;
  int threads = 0;
  std::int64_t replicas = 0;
  SentCommands sent;
};

// Of a case with many commands there is none.
Json times_of(const std::vector<double>& seconds) {
  return seconds.empty() ? Json(nullptr) : json_of(latency_of(seconds));
}
std::string text_of(const std::vector<double>& seconds) {
  return seconds.empty() ? "" : latency_text(latency_of(seconds));
}

Row measure(const BenchRun& run, const CommandsCase& which, Executor executor, double limit_s) {
  CommandedRun one;
  one.schedule = which.schedule;
  one.instance = which.instance;
  one.options = run_options(run, which.replicas);
  one.options.executor = executor;
  Row row{which, executor, run.on_cpu() ? run.backend.backend->info().parallel_units : 0, 0, {}};
  if (which.many()) {
    row.sent = send_many(run.backend, one, run.options.quick ? many_commands_quick : many_commands);
  } else {
    const auto fitting = static_cast<std::int64_t>(std::min(limit_s / seconds_of_single, 1e6));
    row.sent = send_single(run.backend, one, std::clamp(fitting, min_single, max_single));
  }
  require_verified(row.sent.result);
  row.replicas = row.sent.result.work.replicas;
  return row;
}

Json json_of(const Row& row) {
  const double tick_s = row.sent.times.tick_s;
  return {{"case", row.which.name()},
          {"schedule", row.which.schedule},
          {"instance", row.which.instance},
          {"backend", row.threads > 0 ? "cpu" : "cuda"},
          {"threads", row.threads > 0 ? Json(row.threads) : Json(nullptr)},
          {"replicas", row.replicas},
          {"executor", to_string(row.executor)},
          {"commands", row.sent.sent},
          {"lost", row.sent.lost()},
          {"reordered", row.sent.reordered},
          {"commands_per_s", static_cast<double>(row.sent.sent) / row.sent.seconds},
          {"microseconds_per_tick", tick_s > 0 ? Json(1e6 * tick_s) : Json(nullptr)},
          {"held_microseconds", times_of(row.sent.times.held_s)},
          {"answered_microseconds", times_of(row.sent.times.answered_s)},
          {"seed", run_seed}};
}

std::vector<std::string> cells_of(const Row& row) {
  const double tick_s = row.sent.times.tick_s;
  return {row.which.name(),
          std::string(to_string(row.executor)),
          fmt::format("{}", row.sent.sent),
          fmt::format("{}", row.sent.lost()),
          fmt::format("{}", row.sent.reordered),
          tick_s > 0 ? three_digits(1e6 * tick_s) : "",
          text_of(row.sent.times.held_s),
          text_of(row.sent.times.answered_s)};
}

}  // namespace

BenchReport run_commands_suite(const BenchRun& run) {
  BenchReport report;
  report.facts = {
      {"method", "run"},
      {"method_text",
       "commands that change nothing, sent to runs by another thread, by the steady clock"}};
  report.table = {
      {"case", "executor", "commands", "lost", "reordered", "us/tick", "held us", "answered us"}};
  report.notes.emplace_back(
      "median / 99th percentile from the command to the end of the tick that held the run, and to "
      "the answer");
  std::vector<Executor> executors{Executor::stream};
  if (!run.on_cpu()) executors = {Executor::stream, Executor::graph, Executor::loop};
  measure_rows(
      run, all_cases, [](const CommandsCase& one) { return one.name(); }, report,
      [&](const CommandsCase& one, double limit_s) {
        for (const Executor executor : executors) {
          const Row row =
              measure(run, one, executor, limit_s / static_cast<double>(executors.size()));
          report.rows.push_back(json_of(row));
          report.table.push_back(cells_of(row));
        }
      });
  return report;
}

}  // namespace kiln::cli
