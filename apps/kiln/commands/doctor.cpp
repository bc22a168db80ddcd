// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <any>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kiln/backend.hpp"
#include "kiln/engine.hpp"
#include "kiln/registry.hpp"
#include "kiln/tuning/tuned_shapes.hpp"
#include "kiln/version.hpp"

#include "cli/arguments.hpp"
#include "cli/option_values.hpp"
#include "cli/plugin_option.hpp"
#include "commands/commands.hpp"
#include "fix_words.hpp"
#include "output/architectures.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "tune/tune_warning.hpp"
#include "twins/doctor_kernels.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

enum class Status : std::uint8_t { ok, note, bad };

const char* to_string(Status status) noexcept {
  constexpr std::array<const char*, 3> names{"ok", "note", "bad"};
  return names[static_cast<std::size_t>(status)];
}

/// What was looked at, and what came of it.
struct Check {
  std::string name;
  Status status = Status::ok;
  std::string text;
  std::string fix{};
  ExitCode if_bad = ExitCode::device;
};

Check refused(const std::string& name, const Error& error, ExitCode code) {
  const std::string reason = error.expected().empty() ? "" : "; " + error.expected();
  return {name, Status::bad, error.message() + reason, fix_text(error), code};
}

Check check_build() {
  const BuildInfo build = build_info();
  std::string text = fmt::format("{}, {} library, {}", version(),
                                 build.shared ? "shared" : "static", build.compiler);
  if (build.checked) text += ", with checked indices";
  text += build.cuda ? ", with CUDA" : ", without CUDA";
  return {"kiln", Status::ok, text};
}

// Code that was compiled, but that no GPU has run yet, may be wrong or slow.
Check check_architectures(const BuildInfo& build) {
  const std::vector<int> untested = never_run(build.cuda_architectures, build.tested_architectures);
  std::string text = "compiled for " + architectures_text(build.cuda_architectures);
  if (untested.empty())
    return {"archs", Status::ok, text + "; all tests have passed on these architectures"};
  return {"archs", Status::note,
          text + "; the tests have never run on " + architectures_text(untested),
          "run tests/gpu.sh on a GPU of the untested architecture, with the environment variable "
          "KILN_GPU_ARCHITECTURE set to that architecture, such as 90 for sm_90"};
}

bool gpu_node_is_there() {
  std::error_code failed;
  return fs::exists("/dev/nvidia0", failed) || fs::exists("/dev/dxg", failed);
}

// A machine without a GPU is healthy, and so is one whose GPU is hidden, or left alone by a build
// that was made without CUDA.
Status status_of(const Error& complaint) {
  const std::string& code = complaint.code();
  if (code == "device.none") return Status::note;
  const bool left_alone = code == "device.not_built" && !build_info().cuda;
  const bool unreached = code == "device.not_built" || code == "device.no_driver";
  return left_alone || (unreached && !gpu_node_is_there()) ? Status::note : Status::bad;
}

Check check_of(const DeviceProbe& probe) {
  if (probe.info) {
    const DeviceInfo& info = *probe.info;
    std::string text = info.description;
    if (info.memory_free > 0) {
      text += fmt::format(", {} of {} free", human_bytes(info.memory_free),
                          human_bytes(info.memory_total));
    }
    return {probe.name, Status::ok, text};
  }
  Check check = refused(probe.name, *probe.complaint, ExitCode::device);
  check.status = status_of(*probe.complaint);
  return check;
}

// One sparse and one dense model, since these have kernels of their own.
constexpr std::array<std::pair<const char*, const char*>, 2> trials{
    {{"torus", "20x20,1"}, {"sk", "128,1"}}};

std::vector<Result> try_out(const std::string& device) {
  const Registry& registry = known_registry();
  RunOptions options;
  options.device = device;
  options.replicas = 64;
  Engine engine(options);
  std::vector<Result> results;
  for (const auto& [family, parameters] : trials) {
    const Problem problem = registry.problem(family).make(parameters);
    const auto schedule = registry.schedule("simulated-annealing").make({});
    results.push_back(engine.run(problem, *schedule, {.sweeps = 64}));
  }
  return results;
}

bool all_verified(const std::vector<Result>& results) {
  return std::ranges::all_of(results, &Result::verified);
}

bool same_path(const Result& a, const Result& b) {
  return a.energy == b.energy && a.solution == b.solution && a.work.accepted == b.work.accepted;
}

Check check_kernels(const std::string& device, const std::vector<Result>& on_cpu) {
  const std::string name = "kernels";
  try {
    const std::vector<Result> results = device == "cpu" ? on_cpu : try_out(device);
    if (!all_verified(results)) {
      return {name, Status::bad,
              device + ": a short run reports a value that differs from the value of its state",
              "run with another --device, and please report this", ExitCode::self_check};
    }
    if (device == "cpu")
      return {name, Status::ok, "cpu: short runs report the correct values of their states"};
    if (std::ranges::equal(results, on_cpu, same_path)) {
      return {name, Status::ok, device + ": short runs end in the same states as on the CPU"};
    }
    return {name, Status::bad, device + ": short runs do not end in the same states as on the CPU",
            "run with --device cpu, and please report this", ExitCode::self_check};
  } catch (const Error& error) {
    return refused(name, error, ExitCode::device);
  }
}

Check check_folder() {
  std::error_code failed;
  const std::string path = clean(fs::current_path(failed).string());
  const std::string folder = path.empty() ? "the current folder" : path;
  const fs::path probe = fmt::format(".kiln-doctor-{}", ::getpid());
  try {
    write_file(probe, "kiln doctor\n", Existing::refuse);
    fs::remove(probe, failed);
    return {"folder", Status::ok, folder + ": files can be written, synchronised and renamed"};
  } catch (const IoError& error) {
    Check check = refused("folder", error, ExitCode::output);
    check.text =
        fmt::format("{}: no file can be written in this folder; {}", folder, error.message());
    check.fix = "change to a writable folder, or name a writable folder with -o";
    return check;
  }
}

// A line only where something is tuned, or cannot be used.
void add_tuning_checks(const std::string& device, std::vector<Check>& checks) {
  try {
    const OpenedBackend opened = open_backend(device);
    const DeviceInfo info = opened.backend->info();
    const auto shapes = tuned_shapes_of(info);
    if (!shapes->complaint().empty()) {
      checks.push_back({"tuning", Status::note, shapes->complaint(), tuning_command(info)});
    }
    if (!shapes->choices().empty()) {
      checks.push_back({"tuning", Status::ok, device + ": " + tuning_text(info)});
    }
  } catch (const Error&) {
    // The line of the device says what is wrong with it.
  }
}

std::vector<Check> all_checks() {
  const BuildInfo build = build_info();
  std::vector<Check> checks{check_build()};
  if (build.cuda) checks.push_back(check_architectures(build));
  const std::vector<DeviceProbe> probes = probe_devices();
  for (const DeviceProbe& probe : probes) checks.push_back(check_of(probe));
  const std::vector<Result> on_cpu = try_out("cpu");
  for (const DeviceProbe& probe : probes) {
    if (probe.info) checks.push_back(check_kernels(probe.name, on_cpu));
    if (probe.info) add_tuning_checks(probe.name, checks);
  }
  checks.push_back(check_folder());
  return checks;
}

// An unusable GPU is what scripts ask for, so it goes before other complaints.
ExitCode exit_code_of(const std::vector<Check>& checks) {
  ExitCode code = ExitCode::ok;
  for (const Check& check : checks) {
    if (check.status != Status::bad) continue;
    if (code == ExitCode::ok || check.if_bad == ExitCode::device) code = check.if_bad;
  }
  return code;
}

std::string text_of(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    text += fmt::format("{:<5} {:<9} {}\n", to_string(check.status), check.name, clean(check.text));
    if (!check.fix.empty()) text += fmt::format("{:16}fix: {}\n", "", clean(check.fix));
  }
  return text;
}

std::string doctor_json(const std::vector<Check>& checks, ExitCode code) {
  Json json = {{"schema", "kiln.doctor/1"},
               {"kiln", version()},
               {"healthy", code == ExitCode::ok},
               {"checks", Json::array()}};
  for (const Check& check : checks) {
    json["checks"].push_back({{"name", check.name},
                              {"status", to_string(check.status)},
                              {"text", clean(check.text)},
                              {"fix", check.fix.empty() ? Json(nullptr) : Json(clean(check.fix))}});
  }
  return json.dump() + "\n";
}

KernelDoctor kernel_doctor_of(const Arguments& arguments) {
  KernelDoctor options;
  if (arguments.has("device")) options.device = arguments.text("device");
  options.only = arguments.text("only");
  options.json = arguments.has("json");
  if (arguments.has("time-limit")) {
    const std::any limit =
        duration("30s")("time-limit", {arguments.text("time-limit"), Origin::command_line});
    options.limit_s = std::any_cast<double>(limit);
  }
  return options;
}

void refuse_options_of_kernels(const Arguments& arguments) {
  for (const char* name : {"device", "only", "time-limit"}) {
    if (!arguments.has(name)) continue;
    throw InvalidArgument(
        "cli.conflict", fmt::format("--{} goes with --kernels", name), {},
        fmt::format("kiln doctor --kernels --{} {}", name, clean(arguments.text(name))));
  }
}

}  // namespace

const std::vector<OptionSpec>& doctor_specs() {
  static const std::vector<OptionSpec> specs{
      {"kernels", 0, "", "compare every kernel with its twin on the CPU, in place of the checks"},
      {"device", 0, "NAME",
       "with --kernels: auto, cpu, cuda or cuda:N (default auto); on the CPU all threads are "
       "compared with one"},
      {"only", 0, "TEXT", "with --kernels: compare only kernels whose name contains TEXT"},
      {"time-limit", 0, "TIME", "with --kernels: begin no kernel after this time (default 5m)"},
      {"json", 0, "", "print one JSON document"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

std::string doctor_help() {
  return "usage: kiln doctor [options]\n\n" +
         paragraph(
             "Checks everything that a run needs and prints a line for each check: ok, note or "
             "bad, and the fix. A machine without a GPU is healthy. The exit code is 0 if "
             "everything that can work does, 4 if a GPU is present but unusable. With --kernels "
             "it launches each kernel on the device and on the CPU, with the same arguments, and "
             "compares all memory that the kernel can reach; the exit code is 8 if they differ.") +
         "\noptions:\n" + describe_options(doctor_specs()) +
         "\nexamples:\n"
         "  kiln doctor\n"
         "  kiln doctor --json\n"
         "  kiln doctor --kernels --device cuda\n"
         "  kiln doctor --kernels --only sweep\n";
}

ExitCode run_doctor(const Words& words) {
  const Arguments arguments = parse_arguments("doctor", words, doctor_specs(), 0);
  if (arguments.has("help")) {
    print_text(doctor_help());
    return ExitCode::ok;
  }
  if (arguments.has("kernels")) return run_kernel_doctor(kernel_doctor_of(arguments));
  refuse_options_of_kernels(arguments);
  const std::vector<Check> checks = all_checks();
  const ExitCode code = exit_code_of(checks);
  if (arguments.has("json")) {
    print_result(doctor_json(checks, code));
  } else {
    print_text(text_of(checks));
  }
  return code;
}

}  // namespace kiln::cli
