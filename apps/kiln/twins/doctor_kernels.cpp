// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "twins/doctor_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/version.hpp"

#include "bench/timing.hpp"
#include "output/console.hpp"
#include "output/live_row.hpp"
#include "output/text.hpp"
#include "run/interruption.hpp"
#include "twins/kernel_check.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

bool is_bad(const KernelCheck& check) {
  return check.verdict == TwinVerdict::differs || check.verdict == TwinVerdict::failed;
}

std::string row_of(const KernelCheck& check) {
  const Difference& difference = check.difference;
  std::string text;
  if (check.verdict == TwinVerdict::failed) text = check.complaint;
  if (difference.unequal > 0) {
    text = fmt::format("{} of {} words", difference.unequal, difference.words);
    text += std::isfinite(difference.worst)
                ? fmt::format(", relative difference {:.2g}", difference.worst)
                : std::string(", not all of them numbers");
  }
  std::string row = fmt::format("{:<9} {:<24} {:<2}  {}", to_string(check.verdict), check.kernel,
                                check.accuracy, clean(text));
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

Json json_of(const KernelCheck& check) {
  const Difference& difference = check.difference;
  return {{"kernel", check.kernel},
          {"class", check.accuracy},
          {"shape", check.shape},
          {"verdict", to_string(check.verdict)},
          {"words", difference.words},
          {"written", check.written},
          {"unequal", difference.unequal},
          {"relative_difference",
           std::isfinite(difference.worst) ? Json(difference.worst) : Json(nullptr)},
          {"complaint", check.complaint.empty() ? Json(nullptr) : Json(clean(check.complaint))}};
}

/// The comparison, and what it was.
struct Comparison {
  std::string device, twin, note;
  std::vector<KernelCheck> checks;
  std::vector<std::string> left_out;
  bool lost = false;  // the device, for this process

  std::int64_t count(TwinVerdict verdict) const {
    return std::ranges::count(checks, verdict, &KernelCheck::verdict);
  }
  bool healthy() const { return std::ranges::none_of(checks, is_bad); }

  std::string last_line() const {
    std::string text = fmt::format("{} kernels: {} equal, {} close, {} wrong", checks.size(),
                                   count(TwinVerdict::equal), count(TwinVerdict::close),
                                   count(TwinVerdict::differs) + count(TwinVerdict::failed));
    if (const auto none = count(TwinVerdict::no_result); none > 0) {
      text += fmt::format(", {} without a result to compare", none);
    }
    if (!left_out.empty())
      text += fmt::format("; {} left out ({})", left_out.size(),
                          lost ? "the device is lost" : "--time-limit");
    return text + "\n";
  }

  std::string json() const {
    Json json = {{"schema", "kiln.doctor.kernels/1"},
                 {"kiln", version()},
                 {"device", device},
                 {"twin", twin},
                 {"note", note.empty() ? Json(nullptr) : Json(note)},
                 {"healthy", healthy()},
                 {"kernels", Json::array()},
                 {"left_out", left_out}};
    for (const KernelCheck& check : checks) json["kernels"].push_back(json_of(check));
    return json.dump() + "\n";
  }
};

void compare(Comparison& comparison, const std::vector<CheckedKernel>& kernels, Backend& device,
             Backend& cpu, const KernelDoctor& options) {
  const Stopwatch spent;
  const std::unique_ptr<Queue> twin_queue = cpu.make_queue();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (comparison.lost || spent.seconds() >= options.limit_s) {
      comparison.left_out.push_back(kernels[i].name);
      continue;
    }
    if (has_live_row()) {
      show_live_row(fmt::format("{} of {}: {}", i + 1, kernels.size(), kernels[i].name));
    }
    try {
      const std::unique_ptr<Queue> queue = device.make_queue();
      comparison.checks.push_back(check_kernel(kernels[i], *queue, *twin_queue));
    } catch (const CudaError& error) {
      comparison.checks.push_back(failed_check(kernels[i], error.message()));
      comparison.lost = true;
    }
    erase_live_row();
    if (options.json) continue;
    print_text(row_of(comparison.checks.back()));
    if (!flush_results()) return;  // nobody reads further rows
  }
}

}  // namespace

ExitCode run_kernel_doctor(const KernelDoctor& options) {
  const std::vector<CheckedKernel> kernels = kernels_to_check(options.only);
  if (kernels.empty()) {
    throw InvalidArgument("doctor.kernels",
                          fmt::format("no kernel has '{}' in its name", clean(options.only)),
                          "kiln list kernels shows all of them", "--only metropolis_sweep");
  }
  const EndBySignal signals("comparing kernels");
  const OpenedBackend opened = open_backend(options.device);
  const DeviceInfo info = opened.backend->info();
  const OpenedBackend cpu = open_backend("cpu", info.name == "cpu" ? 1 : 0);
  const int threads = cpu.backend->info().parallel_units;
  Comparison comparison{info.name,
                        fmt::format("cpu, {} thread{}", threads, threads == 1 ? "" : "s"),
                        opened.fallback_reason,
                        {},
                        {}};
  if (!options.json) {
    if (!opened.fallback_reason.empty()) {
      print_note(fmt::format("no GPU is compared: {}\n", clean(opened.fallback_reason)));
    }
    print_text(
        fmt::format("{} ({}) against {}\n", info.name, clean(info.description), comparison.twin));
  }
  compare(comparison, kernels, *opened.backend, *cpu.backend, options);
  if (options.json) {
    print_result(comparison.json());
  } else {
    print_text(comparison.last_line());
  }
  return comparison.healthy() ? ExitCode::ok : ExitCode::self_check;
}

}  // namespace kiln::cli
