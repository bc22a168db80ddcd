// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/run_record.hpp"

#include <fmt/format.h>
#include <stdlib.h>  // mkdtemp

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "kiln/errors.hpp"

#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

constexpr double between_snapshots_s = 60;

// KILN_SNAPSHOT_S, where a minute is too much to lose.
double snapshot_interval() {
  const char* const text = std::getenv("KILN_SNAPSHOT_S");
  if (text == nullptr) return between_snapshots_s;
  const std::string_view view(text);
  double seconds = 0;
  const auto [rest, error] = std::from_chars(view.data(), view.data() + view.size(), seconds);
  const bool number = error == std::errc() && rest == view.data() + view.size();
  if (number && seconds > 0) return seconds;
  throw InvalidArgument("cli.value", "KILN_SNAPSHOT_S=" + clean(view) + " is not a time",
                        "seconds above 0", "KILN_SNAPSHOT_S=60");
}

}  // namespace

RunRecord::RunRecord(RunFolder* folder, const CommandOptions& options, const Problem& problem,
                     const Points& reference_front, const RunOutput& output)
    : folder_(folder),
      options_(options),
      problem_(problem),
      reference_front_(reference_front),
      output_(output),
      incumbents_(problem, options.has("incumbent-solutions")),
      interval_s_(snapshot_interval()) {}

RunRecord::~RunRecord() = default;

std::function<void(const Evaluation&)> RunRecord::evaluation_log(bool few_evaluations) {
  if (folder_ == nullptr || !few_evaluations) return {};
  return [this](const Evaluation& one) {
    if (!evaluations_) begin_evaluations();
    evaluations_->append(evaluation_table_->row(one), true);
  };
}

// A folder that cannot be written to is said at the end: the run goes on.
std::unique_ptr<GrowingFile> RunRecord::grow(const std::string& name) {
  std::unique_ptr<GrowingFile> file;
  attempt([&] { file = folder_->grow(name); });
  return file ? std::move(file) : std::make_unique<GrowingFile>();
}

void RunRecord::keep_telemetry(TelemetryOptions& options) {
  if (folder_ == nullptr || options.level == TelemetryLevel::off) return;
  options.take = [this](std::span<const TelemetryRecord> records) { telemetry_.take(records); };
}

void RunRecord::begin_evaluations() {
  evaluation_table_.emplace(problem_);
  evaluations_ = grow("evaluations.csv");
  evaluations_->append(evaluation_table_->header());
}

void RunRecord::begin(const RunFacts& facts, const std::vector<std::string>& words) {
  if (folder_ == nullptr && !options_.has("save")) return;
  const std::string run = run_json(facts, words);
  if (options_.has("save")) attempt([&] { write_file(options_.text("save"), run); });
  if (folder_ == nullptr) return;
  attempt([&] { folder_->write("run.json", run); });
  trace_ = grow("trace.csv");
  trace_->append("time_s,sweeps,attempts,best,mean,acceptance_rate,beta,attempts_per_ns\n");
  event_lines_ = grow("events.ndjson");
  events_ = std::make_unique<Events>(facts, *event_lines_);
}

void RunRecord::trace(const ReportPoint& p) {
  std::string best;
  if (p.has_best) {
    best = problem_.units.integral ? fmt::format("{:.0f}", p.best) : fmt::format("{}", p.best);
  }
  trace_->append(fmt::format("{:.6f},{},{:.0f},{},{},{},{},{}\n", p.time_s, p.sweeps, p.attempts,
                             best, p.mean, p.acceptance_rate, p.beta, p.attempts_per_ns));
}

void RunRecord::update(const ReportPoint& point, Run& run) {
  if (folder_ == nullptr) return;
  trace(point);
  attempt([&] { incumbents_.update(*folder_, run); });
  attempt([&] { telemetry_.write(*folder_, run); });
  events_->update(point);
  if (point.time_s - kept_s_ < interval_s_ || !point.has_best) return;
  kept_s_ = point.time_s;
  snapshot(run);
}

// A disk that is full for a moment, or no feasible state yet, costs the run nothing.
void RunRecord::snapshot(Run& run) {
  struct Files final : FileWriter {
    explicit Files(RunFolder& files) : folder(files) {}
    void write(const std::string& name, const std::string& content,
               const std::string& listed_as) const override {
      folder.write(name, content, listed_as);
    }
    RunFolder& folder;
  };
  try {
    const Result result = run.result_so_far();
    if (!result.verified) return;
    output_.write(Files(*folder_), options_, result, problem_, reference_front_, true);
    folder_->write("result.json", result_json(result));
  } catch (const std::exception&) {
    return;
  }
}

void RunRecord::withdraw() noexcept {
  if (folder_ != nullptr && !evaluations_) folder_->discard();
}

void RunRecord::keep_solution(const Result& result, bool in_a_hurry) {
  if (folder_ == nullptr || !result.verified) return;
  attempt([&] { output_.write(*this, options_, result, problem_, reference_front_, in_a_hurry); });
}

void RunRecord::finish(const Result& result) {
  if (folder_ == nullptr) return;
  attempt([&] { FileWriter::write("result.json", result_json(result)); });
  // Of a run that failed the file has more: the evaluations of its last batch.
  attempt([&] {
    if (!result.evaluations || result.stop == Stop::failed) return;
    FileWriter::write("evaluations.csv", evaluations_csv(*result.evaluations, problem_));
  });
  attempt([&] { incumbents_.finish(*folder_, result); });
  attempt([&] { events_->finish(result); });
  for (GrowingFile* file : {evaluations_.get(), trace_.get(), incumbents_.file(),
                            event_lines_.get(), telemetry_.file()}) {
    if (file == nullptr) continue;
    file->append("");  // what could not be written before
    if (file->error().empty() || error_) continue;
    error_ = std::make_exception_ptr(
        IoError("io.write", file->error(), {}, "choose a writable folder with free space"));
  }
}

// What keeps one file from being written keeps no other.
template <class Part>
void RunRecord::attempt(const Part& part) {
  try {
    part();
  } catch (const std::exception&) {
    if (!error_) error_ = std::current_exception();
  }
}

void RunRecord::write(const std::string& name, const std::string& content,
                      const std::string& listed_as) const {
  try {
    folder_->write(name, content, listed_as);
  } catch (const IoError&) {
    if (!error_) error_ = std::current_exception();
    rescue(name, content);
  }
}

// What cost hours is worth a place that nobody asked for.
void RunRecord::rescue(const std::string& name, const std::string& content) const {
  try {
    if (shelter_.empty()) {
      std::string folder = (fs::temp_directory_path() / "kiln-XXXXXX").string();
      if (::mkdtemp(folder.data()) == nullptr) throw IoError("io.write", "no folder");
      shelter_ = folder;
    }
    write_file(fs::path(shelter_) / name, content);
    print_note(fmt::format("Kiln wrote {} to {}, because writing to the run folder failed\n", name,
                           clean(shelter_)));
  } catch (const std::exception&) {
    const bool found = name == "solution.txt" || name == "front.csv" || name == "evaluations.csv";
    const std::string text =
        fmt::format("content of {}, which cannot be written to any folder:\n{}\n", name, content);
    // Standard output has the document then, which has everything but evaluations.
    if (options_.has("json") && name == "evaluations.csv") print_note(text);
    if (found && !options_.has("json")) print_result(text);
  }
}

}  // namespace kiln::cli
