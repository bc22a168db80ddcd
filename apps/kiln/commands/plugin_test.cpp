// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/run.hpp"

#include "cli/arguments.hpp"
#include "cli/plugin_option.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/problem_source.hpp"

namespace kiln::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Texts = std::map<std::string, std::string>;

constexpr std::int64_t sweeps = 64;  // of half a run
// Small problems of all kinds of spaces: a schedule must run on some and refuse the others.
constexpr std::array<const char*, 8> trials{
    "torus:8x8,1",       "sk:64,1", "partition:16,10,1",       "function:rastrigin-4",
    "coloring:queen5,5", "zdt:1",   "posterior:eight-schools", "potts:6x6,3,1"};

/// A check of a schedule or a problem: what was tested, and what is wrong, or "".
struct Finding {
  std::string what;
  std::string wrong;
  std::string note;  ///< on what was tested
};

class ScheduleTest {
 public:
  explicit ScheduleTest(const ScheduleEntry& entry) : entry_(entry) {}

  std::vector<Finding> run() {
    check("options: unknown names and bad values are refused", &ScheduleTest::options);
    check("problems: it runs on some and refuses the others", &ScheduleTest::problems);
    if (!suitable_) return std::move(findings_);
    check("seed: two runs are equal", &ScheduleTest::repeats);
    check("threads: one and four give the same answer", &ScheduleTest::threads);
    check("values that are no numbers: the answer is finite, or the run is refused",
          &ScheduleTest::not_finite);
    check("time limit: it stops soon after", &ScheduleTest::stops);
    check("memory: it needs no more than it has planned", &ScheduleTest::memory);
    check("checkpoint: a run that is saved and loaded takes the same path",
          &ScheduleTest::continues);
    check("GPU: the same answer as on the CPU", &ScheduleTest::twins);
    return std::move(findings_);
  }

 private:
  using Test = std::string (ScheduleTest::*)();  // what is wrong; may set note_

  void check(const char* what, Test test) {
    note_.clear();
    std::string wrong;
    try {
      wrong = (this->*test)();
    } catch (const std::exception& error) {
      wrong = error.what();
    } catch (...) {
      wrong = "it throws what is no std::exception";
    }
    findings_.push_back({what, wrong, note_});
  }

  static RunOptions options_of(int threads, std::uint64_t seed = 3) {
    RunOptions options;
    options.device = "cpu";
    options.threads = threads;
    options.replicas = 64;
    options.seed = seed;
    return options;
  }
  Result run_on(const Problem& problem, const RunOptions& options, const Budget& budget) const {
    const std::unique_ptr<Schedule> schedule = entry_.make({});
    return Engine(options).run(problem, *schedule, budget);
  }
  Result run_on_cpu(int threads) const {
    return run_on(*suitable_, options_of(threads), {.sweeps = 2 * sweeps});
  }
  static bool same(const Result& a, const Result& b) {
    return a.energy == b.energy && a.solution == b.solution && a.work.sweeps == b.work.sweeps &&
           a.work.accepted == b.work.accepted;
  }

  std::string options() {
    const auto accepts = [&](const Texts& texts) {
      try {
        static_cast<void>(entry_.make(texts));
        return true;
      } catch (const InvalidArgument&) {
        return false;
      }
    };
    if (!accepts({})) return "the default options are refused";
    if (accepts({{"no-such-option", "1"}})) return "an option that does not exist is accepted";
    for (const FieldInfo& field : entry_.fields) {
      if (accepts({{field.name, "\x01 no value"}})) {
        return fmt::format("{}=<control character> is accepted", field.name);
      }
    }
    return {};
  }

  std::string problems() {
    std::vector<std::string> names(trials.begin(), trials.end()), taken;
    if (!entry_.example.empty()) names.push_back(entry_.example);
    for (const PluginInfo& plugin : known_plugins()) {
      for (const std::string& family : plugin.problems) {
        for (const std::string& one : known_registry().problem(family).examples) {
          names.push_back(one);
        }
      }
    }
    for (const std::string& name : names) {
      const Problem problem = load_problem(name, {}, known_registry()).problem;
      try {
        const Result result = run_on(problem, options_of(1), {.sweeps = 4});
        if (!result.verified) return name + ": the value of the answer is not that of its state";
        taken.push_back(name);
        if (!suitable_) suitable_ = problem;
      } catch (const InvalidArgument&) {  // refused, with a message
      }
    }
    note_ = fmt::format("runs on {}", fmt::join(taken, ", "));
    return suitable_ ? "" : "it runs on no problem: name one in ScheduleEntry::example";
  }

  std::string repeats() {
    return same(run_on_cpu(1), run_on_cpu(1)) ? "" : "two runs with one seed differ";
  }
  std::string threads() {
    return same(run_on_cpu(1), run_on_cpu(4)) ? "" : "the answer depends on the number of threads";
  }

  // Half of the states have no number as value.
  std::string not_finite() {
    const auto value = [](std::span<const double> x) {
      return x[0] < 0 ? std::numeric_limits<double>::quiet_NaN() : x[0] * x[0] + x[1] * x[1];
    };
    const Problem problem =
        make_problem(make_host_objective("half-defined", Space::reals(2, -1, 1), value));
    try {
      const Result result = run_on(problem, options_of(1), {.sweeps = sweeps});
      return std::isfinite(result.objective) ? "" : "the answer is not finite";
    } catch (const InvalidArgument&) {
      note_ = "it refuses an objective that is called on the host";
      return {};
    }
  }

  std::string stops() {
    constexpr double limit_s = 0.3, slack_s = 2;
    Budget budget;
    budget.time_limit_s = limit_s;
    const Clock::time_point begin = Clock::now();
    static_cast<void>(run_on(*suitable_, options_of(1), budget));
    const double took_s = std::chrono::duration<double>(Clock::now() - begin).count();
    note_ = fmt::format("{:.2f} s of {:.1f} s", took_s, limit_s);
    return took_s < limit_s + slack_s ? "" : "it went on too long: make ticks shorter";
  }

  std::string memory() {
    const Result result = run_on_cpu(1);
    const std::uint64_t planned = result.memory.planned_bytes, peak = result.memory.peak_bytes;
    constexpr std::uint64_t slack = 2 << 20;
    note_ = fmt::format("{} of {}", human_bytes(peak), human_bytes(planned));
    return peak <= planned + planned / 100 + slack
               ? ""
               : "it needed more than its plan: allocate with AllocateContext::scratch in "
                 "allocate(), also if the run only counts";
  }

  std::string continues() {
    const Budget half{.sweeps = sweeps}, whole{.sweeps = 2 * sweeps};
    const OpenedBackend cpu = open_backend("cpu", 1);
    const auto a = entry_.make({}), b = entry_.make({}), c = entry_.make({});
    kiln::Run uninterrupted(*suitable_, *a, whole, options_of(1), cpu);
    const Result expected = uninterrupted.advance();
    Archive archive;
    {
      kiln::Run first(*suitable_, *b, whole, options_of(1), cpu);
      static_cast<void>(first.advance_to(half));
      first.save(archive);
    }
    kiln::Run second(*suitable_, *c, whole, options_of(1), cpu);
    second.load(archive);
    return same(second.advance(), expected)
               ? ""
               : "the path differs: save what changes in save(), and reset it in allocate()";
  }

  std::string twins() {
    std::string device;
    for (const DeviceInfo& info : list_devices()) {
      if (info.gpu) device = info.name;
    }
    RunOptions options = options_of(1);
    options.device = device;
    if (device.empty()) {
      note_ = "not tested: no GPU here";
      return {};
    }
    try {
      const Result on_gpu = run_on(*suitable_, options, {.sweeps = 2 * sweeps});
      return same(on_gpu, run_on_cpu(1)) ? "" : "the answer on " + device + " differs";
    } catch (const InvalidArgument& error) {
      if (error.code() != "kernel.component_missing") throw;
      note_ = "it has no kernels for GPUs, and runs on the CPU only";
      return {};
    }
  }

  const ScheduleEntry& entry_;
  std::optional<Problem> suitable_;
  std::vector<Finding> findings_;
  std::string note_;
};

// The examples of a family can be made, and a short run gives a state with its value.
Finding test_problems(const std::string& name) {
  const ProblemEntry& family = known_registry().problem(name);
  Finding finding{fmt::format("problem {}: its examples can be solved", name), {}, {}};
  if (family.examples.empty()) finding.note = "it has no examples";
  for (const std::string& one : family.examples) {
    try {
      const Problem problem = load_problem(one, {}, known_registry()).problem;
      std::string schedule = known_registry().default_schedule(problem);
      if (schedule.empty()) schedule = "random-search";
      RunOptions options;
      options.device = "cpu";
      options.replicas = 64;
      const auto made = known_registry().schedule(schedule).make({});
      if (!Engine(options).run(problem, *made, {.sweeps = 8}).verified) {
        finding.wrong = one + ": the value of the answer is not that of its state";
      }
    } catch (const std::exception& error) {
      finding.wrong = one + ": " + error.what();
    }
  }
  return finding;
}

int print_findings(const std::vector<Finding>& findings) {
  int bad = 0;
  for (const Finding& one : findings) {
    const bool is_bad = !one.wrong.empty();
    bad += is_bad ? 1 : 0;
    print_text(fmt::format("{:<5} {}{}\n", is_bad ? "bad" : "ok", one.what,
                           one.note.empty() ? "" : " (" + clean(one.note) + ")"));
    if (is_bad) print_text(fmt::format("      {}\n", clean(one.wrong)));
  }
  return bad;
}

}  // namespace

const std::vector<OptionSpec>& plugin_test_specs() {
  static const std::vector<OptionSpec> specs{{"help", 'h', "", "show this help"}};
  return specs;
}

std::string plugin_test_help() {
  return "usage: kiln plugin-test FILE\n\n" +
         paragraph(
             "Loads a plug-in and tests each of its schedules and problem families: options, "
             "problems, seeds, threads, values that are no numbers, limits, memory, checkpoints, "
             "and kernels on the CPU and the GPU. The exit code is 8 if a test fails.") +
         "\noptions:\n" + describe_options(plugin_test_specs()) +
         "\nexample:\n"
         "  kiln plugin-test my_schedule/build/my_schedule.so\n";
}

ExitCode run_plugin_test(const Words& words) {
  Arguments arguments = parse_arguments("plugin-test", words, plugin_test_specs(), 1);
  if (arguments.has("help")) {
    print_text(plugin_test_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln plugin-test needs the file of a plug-in", {},
                          "kiln plugin-test my_schedule/build/my_schedule.so");
  }
  arguments.options["plugin"] = {arguments.positional.front()};
  load_plugins(arguments);
  std::error_code failed;
  const std::filesystem::path path =
      std::filesystem::canonical(arguments.positional.front(), failed);
  const auto plugin = std::ranges::find(known_plugins(), path, &PluginInfo::path);
  if (plugin == known_plugins().end()) {
    throw InvalidArgument("cli.value", clean(path.string()) + " is not loaded");
  }
  print_text(fmt::format("plug-in {} {}: {}\n", clean(plugin->name), clean(plugin->version),
                         clean(plugin->summary)));
  int bad = 0;
  for (const std::string& name : plugin->schedules) {
    print_text(fmt::format("\nschedule {}\n", clean(name)));
    bad += print_findings(ScheduleTest(known_registry().schedule(name)).run());
  }
  std::vector<Finding> of_problems;
  for (const std::string& name : plugin->problems) of_problems.push_back(test_problems(name));
  if (!of_problems.empty()) print_text("\n");
  bad += print_findings(of_problems);
  print_text(bad == 0 ? "\nall tests passed\n"
                      : fmt::format("\n{} test{} failed\n", bad, bad == 1 ? "" : "s"));
  return bad == 0 ? ExitCode::ok : ExitCode::self_check;
}

}  // namespace kiln::cli
