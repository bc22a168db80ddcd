// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/files/user_cache.hpp"
#include "kiln/tuning/tune_file.hpp"
#include "kiln/version.hpp"

#include "output/console.hpp"
#include "output/live_row.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "run/signals.hpp"
#include "tune/shape_search.hpp"
#include "tune/shape_tester.hpp"
#include "tune/tune_report.hpp"
#include "tune/tune_store.hpp"
#include "twins/kernel_check.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const CheckedKernel& kernel_of(const std::vector<CheckedKernel>& all, const Tunable& tunable) {
  const auto found = std::ranges::find(all, tunable.description().kernel, &CheckedKernel::name);
  if (found != all.end()) return *found;
  throw Error("tune.kernel", tunable.name() + " names a kernel that is not in the catalogue");
}

/// The tunables of a device that a user means.
std::vector<const Tunable*> selected(const std::vector<std::string>& names, bool gpu,
                                     const std::string& device) {
  const std::vector<const Tunable*> all = tunables(gpu);
  std::set<const Tunable*> wanted;
  std::set<std::string> known;
  for (const Tunable* one : all) known.insert({one->name(), one->description().kernel});
  for (const std::string& name : names) {
    bool found = false;
    for (const Tunable* one : all) {
      if (one->name() != name && one->description().kernel != name) continue;
      wanted.insert(one);
      found = true;
    }
    if (found) continue;
    const std::vector<std::string> candidates(known.begin(), known.end());
    const std::string nearest = nearest_name(name, candidates);
    throw InvalidArgument(
        "tune.kernel",
        fmt::format("'{}' has no launch shape to tune on {}{}", clean(name), device,
                    nearest_hint(name, candidates)),
        fmt::format("expected: {}", fmt::join(candidates, ", ")),
        "kiln tune" + (nearest.empty() ? "" : " " + nearest) + " --device " + device);
  }
  if (names.empty()) return all;
  std::vector<const Tunable*> chosen;
  std::ranges::copy_if(all, std::back_inserter(chosen),
                       [&](const Tunable* one) { return wanted.contains(one); });
  return chosen;
}

/// Tunes a device, tunable by tunable.
class Tuner {
 public:
  explicit Tuner(const TuneOptions& options)
      : options_(options),
        opened_(open_backend(options.device)),
        info_(opened_.backend->info()),
        shapes_(tuned_shapes_of(info_)),
        tunables_(selected(options.kernels, info_.gpu, info_.name)),
        store_(shapes_->device()),
        cpu_(open_backend("cpu", info_.gpu ? 0 : 1)),
        before_(options.retry ? TuneRecords{} : store_.records()) {
    print_note(fallback_warning(info_, opened_.fallback_reason));
  }

  ExitCode run() {
    const StopSignals signals([this] { stopped_ = true; });
    const std::unique_ptr<Queue> device = opened_.backend->make_queue();
    const std::unique_ptr<Queue> twin = (info_.gpu ? opened_ : cpu_).backend->make_queue();
    const auto of_twin = tuned_shapes_of((info_.gpu ? opened_ : cpu_).backend->info());
    LaunchTimer timer(*device);
    const TestBench bench{*device, *shapes_, *twin, *of_twin, timer};
    for (const Tunable* one : tunables_) {
      if (ended()) {
        ++left_out_;
      } else {
        tune(bench, *one);
      }
    }
    erase_live_row();
    print(signals);
    return signals.count() > 0 ? signals.exit_code() : answer();
  }

 private:
  bool ended() const { return stopped_ || spent_.seconds() >= options_.limit_s; }

  // An outcome whose shape no launch can have is none: somebody has edited it. A default that was
  // wrong may be right by now.
  bool is_known(const Tunable& tunable, const TuneOutcome* outcome) const {
    if (outcome == nullptr || !outcome->default_complaint.empty()) return false;
    if (!outcome->chosen) return true;
    const std::optional<LaunchShape> shape = launch_shape(tunable, *outcome->chosen);
    return shape && tunable.refusal(*shape, shapes_->device().limits).empty();
  }

  // A case may launch for several sizes, and several cases for the same.
  void tune(const TestBench& bench, const Tunable& tunable) {
    const CheckedKernel& kernel = kernel_of(kernels_, tunable);
    std::set<int> seen;
    for (const KernelCase& which : kernel.cases()) {
      if (ended()) {
        ++left_out_;
        return;
      }
      show(fmt::format("{}: preparing {}", tunable.name(), which.shape));
      for (const int bucket : buckets_of(which, tunable, bench.device, bench.shapes)) {
        if (seen.insert(bucket).second) tune_bucket(bench, tunable, kernel, which, bucket);
      }
    }
  }

  void tune_bucket(const TestBench& bench, const Tunable& tunable, const CheckedKernel& kernel,
                   const KernelCase& which, int bucket) {
    TuneTask task;
    task.tunable = &tunable;
    task.subject = {key_of(shapes_->device()), tunable.name(), tunable.hash(), bucket};
    task.workload = which.shape;
    task.limits = shapes_->device().limits;
    if (is_known(tunable, before_.outcome_of(task.subject))) {
      ++known_;
      return;
    }
    std::optional<ShapeTester> tester;
    const auto keep = [this](const TuneTrial& trial) {
      store_.add(trial);
      ++made_;
    };
    TuneActions actions;
    actions.ended = [this] { return ended(); };
    actions.keep = keep;
    actions.default_fault = [&] { return default_fault(kernel, which); };
    actions.begin = [&](std::int64_t number, std::int64_t count, const LaunchShape& shape) {
      show(fmt::format("{} {}: {} of {}, {}", tunable.name(), short_bucket(bucket),
                       std::min(number, count), count, tunable.text_of(shape)));
    };
    actions.test = [&](const LaunchShape& shape, bool again) {
      if (!tester) tester.emplace(bench, which, tunable, bucket);
      return tester->test(
          shape, [this] { return ended(); },
          [&](TuneTrial trial) {
            trial.subject = task.subject;
            trial.shape = named_shape(tunable, shape);
            trial.again = again;
            keep(trial);
          });
    };
    const std::optional<TuneOutcome> outcome = search_shapes(task, before_, actions);
    if (!outcome) {
      ++left_out_;
      return;
    }
    store_.add(*outcome);
    if (!has_live_row()) {
      print_note(fmt::format("tuned {} {}: {}\n", tunable.name(), short_bucket(bucket),
                             outcome->chosen ? text_of(*outcome->chosen) : "no gain"));
    }
  }

  // Trials compare with the default on the same device, so the default itself must be right.
  std::string default_fault(const CheckedKernel& kernel, const KernelCase& which) {
    const ShapeTrial standard(*shapes_, nullptr);
    const std::unique_ptr<Queue> device = opened_.backend->make_queue();
    const std::unique_ptr<Queue> twin = cpu_.backend->make_queue();
    const KernelCheck check = check_kernel(kernel, which, *device, *twin);
    if (check.verdict == TwinVerdict::failed) return "the default fails: " + check.complaint;
    if (check.verdict != TwinVerdict::differs) return {};
    return fmt::format("the default differs from the CPU in {} of {} words",
                       check.difference.unequal, check.difference.words);
  }

  void show(const std::string& text) const {
    if (has_live_row()) show_live_row(text);
  }

  TuneReport report() const {
    TuneRecords records = read_tune_records(read_tune_text(store_.path()));
    const TuneDevice& device = shapes_->device();
    const TuneHeader header{key_of(device), device.name, device.driver, device.toolkit, version()};
    records.headers = {header};
    std::erase_if(records.outcomes, [&](const TuneOutcome& one) {
      return one.subject.key != header.key || !is_meant(one);
    });
    return reports_of(store_.path(), records).front();
  }

  bool is_meant(const TuneOutcome& outcome) const {
    return std::ranges::any_of(tunables_, [&](const Tunable* one) {
      return one->name() == outcome.subject.tunable && one->hash() == outcome.subject.hash;
    });
  }

  std::string last_line(bool interrupted) const {
    std::string text = fmt::format("{} new trial{} in {}\n", made_, made_ == 1 ? "" : "s",
                                   clean(store_.path().string()));
    if (made_ == 0 && left_out_ == 0 && known_ > 0) {
      text = fmt::format("no new trial: all is known from {}; --retry measures again\n",
                         clean(store_.path().string()));
    }
    if (left_out_ > 0) {
      text += fmt::format("{}: {}\n", interrupted ? "interrupted" : "--time-limit",
                          options_.retry ? "--retry begins again; sizes that it did not reach keep "
                                           "what they had"
                                         : "the same command continues where this one ended");
    }
    return text;
  }

  void print(const StopSignals& signals) const {
    const bool interrupted = signals.count() > 0;
    const TuneReport found = report();
    if (options_.json) {
      const Json json = {{"schema", "kiln.tune/1"},
                         {"kiln", version()},
                         {"trials", made_},
                         {"complete", left_out_ == 0},
                         {"devices", Json::array({json_of(found)})}};
      return print_result(json.dump() + "\n");
    }
    print_text(table_of(found));
    print_text(last_line(interrupted));
  }

  ExitCode answer() const {
    const TuneReport found = report();
    const bool wrong = std::ranges::any_of(
        found.outcomes, [](const TuneOutcome& one) { return !one.default_complaint.empty(); });
    return wrong ? ExitCode::self_check : ExitCode::ok;
  }

  const TuneOptions& options_;
  OpenedBackend opened_;
  DeviceInfo info_;
  std::shared_ptr<const TunedShapes> shapes_;
  std::vector<const Tunable*> tunables_;
  TuneStore store_;
  OpenedBackend cpu_;
  TuneRecords before_;
  std::vector<CheckedKernel> kernels_ = kernels_to_check("");
  Stopwatch spent_;
  std::atomic<bool> stopped_{false};
  std::int64_t made_ = 0, known_ = 0, left_out_ = 0;
};

std::set<fs::path> files_of_devices(const fs::path& cache) {
  std::set<fs::path> files;
  if (cache.empty()) return files;
  std::error_code failed;
  for (fs::directory_iterator entry(cache / "tune", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const fs::path& file = entry->path();
    const bool previous = file.stem().extension() == ".prev";
    if (file.extension() == ".ndjson" && !previous) files.insert(file);
  }
  if (failed && failed != std::errc::no_such_file_or_directory) {
    print_note(
        fmt::format("warning[io.read]: {} cannot be read: {}; fix: make the folder readable, "
                    "or name another one with KILN_CACHE_DIR\n",
                    clean((cache / "tune").string()), failed.message()));
  }
  return files;
}

std::vector<TuneReport> reports_in(const fs::path& file) {
  const TuneRecords records = read_tune_records(read_tune_text(file));
  if (records.bad_lines > 0) {
    print_note(fmt::format("warning[tune.cache]: {}: {}\n", clean(file.string()),
                           complaint_about_lines(records)));
  }
  return reports_of(file, records, build_of);
}

}  // namespace

ExitCode run_tuning(const TuneOptions& options) { return Tuner(options).run(); }

ExitCode print_tune_reports(bool json) {
  const fs::path cache = user_cache_folder();
  const std::set<fs::path> files = files_of_devices(cache);
  // The tunables of GPUs are known once the CUDA module is loaded.
  if (!files.empty()) static_cast<void>(probe_devices());
  Json document = {{"schema", "kiln.tune/1"}, {"kiln", version()}, {"devices", Json::array()}};
  std::string text;
  for (const fs::path& file : files) {
    try {
      for (const TuneReport& report : reports_in(file)) {
        document["devices"].push_back(json_of(report));
        text += table_of(report);
      }
    } catch (const IoError& error) {
      print_note(fmt::format("warning[{}]: {}; fix: {}\n", error.code(), clean(error.message()),
                             error.fix()));
    }
  }
  if (text.empty()) {
    text = fmt::format("no device was tuned: there is no {} in {}; kiln tune makes one\n",
                       files.empty() ? "file" : "result",
                       cache.empty() ? "~/.cache/kiln/tune" : clean((cache / "tune").string()));
  }
  if (json) {
    print_result(document.dump() + "\n");
  } else {
    print_text(text);
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
