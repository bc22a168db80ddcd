// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/run_record.hpp"

#include <fmt/format.h>
#include <stdlib.h>  // mkdtemp

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"

#include "attach/command_files.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "report/report.hpp"
#include "run/former/former_result.hpp"
#include "run/resumption.hpp"
#include "run/signals.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// Where no checkpoints are written.
constexpr double between_snapshots_s = 60;

// Logs that a run which continues cuts to their lengths at the checkpoint.
constexpr const char* cut_logs[] = {"trace.csv", "events.ndjson", "telemetry.bin", command_log};

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return known.message();
  } catch (const std::exception& other) {
    return other.what();
  }
}

// "done   sweep limit after 4.8 s ...", among the lines of the result.
std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("done ")) return line;
  }
  return {};
}

// In the notes of a checkpoint.
std::string length_note(const std::string& file) { return "length of " + file; }

}  // namespace

RunRecord::RunRecord(RunFolder* folder, const CommandOptions& options, const Problem& problem,
                     const Points& reference_front, const RunOutput& output)
    : folder_(folder),
      options_(options),
      problem_(problem),
      reference_front_(reference_front),
      output_(output),
      incumbents_(problem, options.has("incumbent-solutions")) {}

RunRecord::~RunRecord() = default;

std::function<void(const Evaluation&)> RunRecord::evaluation_log(bool few_evaluations) {
  if (folder_ == nullptr || !few_evaluations) return {};
  return [this](const Evaluation& one) {
    if (!evaluations_) begin_evaluations();
    if (!recalled_ || !recalled_->find(spans_of(one.state))) append_evaluation(one);
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
  if (evaluations_->size() == 0) evaluations_->append(evaluation_table_->header());
  if (recalled_) {
    for (const Evaluation& one : recalled_->all()) evaluation_table_->learn(one);
  }
  begin_sums();
}

// Sums name run.json, which is there before the first evaluation.
void RunRecord::begin_sums() {
  line_sums_.emplace(fs::path(options_.text("output")) / "run.json");
  sums_ = grow(LineSums::file);
}

// The sum comes first: one of a row that is not there does no harm, and a row that stands in the
// file is known to be the run's own, whenever the run is killed.
void RunRecord::append_evaluation(const Evaluation& one) {
  const std::string row = evaluation_table_->row(one);
  sums_->append(line_sums_->of(row, LineSums::Origin::own) + "\n", true);
  evaluations_->append(row, true);
}

// Rows of the log know neither study nor batch.
void RunRecord::finish_evaluations(const Evaluations& evaluations) {
  if (!line_sums_) begin_sums();
  EvaluationTable table(problem_);
  std::string text = table.header(), sums;
  for (const Evaluation& one : evaluations.all) {
    const std::string row = table.row(one);
    text += row;
    const auto origin = one.batch == 0 ? LineSums::Origin::past : LineSums::Origin::own;
    sums += line_sums_->of(row, origin) + "\n";
  }
  sums_->append(sums, true);
  FileWriter::write("evaluations.csv", text);
}

void RunRecord::begin(const RunFacts& facts, const std::vector<std::string>& words,
                      const Checkpoint* checkpoint) {
  if (folder_ == nullptr && !options_.has("save")) return;
  const std::string run = run_json(facts, words);
  if (options_.has("save")) attempt([&] { write_file(options_.text("save"), run); });
  if (folder_ == nullptr) return;
  loaded_ = &facts.loaded;
  keep_logs(checkpoint);
  const bool expensive = problem_.experiment.has_value();
  checkpoints_.emplace(*folder_, options_.value<double>("checkpoint-every").value_or(0), expensive);
  if (!folder_->continues()) attempt([&] { folder_->write("run.json", run); });
  trace_ = grow("trace.csv");
  if (trace_->size() == 0) {
    trace_->append("time_s,sweeps,attempts,best,mean,acceptance_rate,beta,attempts_per_ns\n");
  }
  event_lines_ = grow("events.ndjson");
  keep_commands();
  events_ = std::make_unique<Events>(facts, *event_lines_);
  if (checkpoint == nullptr) {
    events_->start();
  } else {
    attempt([&] { telemetry_.go_on(*folder_); });
    events_->resume(checkpoint->run_s(), checkpoint->steps());
    kept_s_ = checkpoint->run_s();
    checkpoints_->spent(kept_s_, 0);
  }
}

void RunRecord::drop_damaged_checkpoint() {
  attempt([&] {
    std::error_code ignored;
    fs::remove(folder_->place_of(checkpoint_name), ignored);
  });
}

void RunRecord::go_on(const Run& run) {
  attempt([&] { IncumbentLog::go_on(*folder_, run); });
}

// What the killed run logged behind its checkpoint, the run that continues does again. Its
// evaluations cost more than a line.
void RunRecord::keep_logs(const Checkpoint* checkpoint) {
  if (!folder_->continues()) return;
  folder_->remove_remains();
  folder_->keep_of("incumbents.ndjson", 0);  // the run has all of them, and writes them anew
  if (recalled_) {
    folder_->keep_of("evaluations.csv", recalled_->csv_bytes());
    folder_->keep_of(LineSums::file, recalled_->sums_bytes());
  }
  for (const char* name : cut_logs) {
    std::uint64_t kept = 0;
    if (checkpoint != nullptr) {
      const auto note = checkpoint->notes().find(length_note(name));
      if (note != checkpoint->notes().end())
        kept = std::strtoull(note->second.c_str(), nullptr, 10);
    }
    folder_->keep_of(name, kept);
  }
}

CheckpointNotes RunRecord::notes(const std::string& finished) const {
  CheckpointNotes notes = checkpoint_notes(*options_.verb, *loaded_, finished);
  const GrowingFile* const files[] = {trace_.get(), event_lines_.get(), telemetry_.file(),
                                      commands_.get()};
  for (std::size_t i = 0; i < std::size(cut_logs); ++i) {
    notes[length_note(cut_logs[i])] = std::to_string(files[i] == nullptr ? 0 : files[i]->size());
  }
  return notes;
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
  const bool asked = take_checkpoint_request();
  if (folder_ == nullptr) {
    if (asked) tell("signal USR1 asks for a checkpoint, and this run has no folder (-o)");
    return;
  }
  newest_ = point;
  trace(point);
  attempt([&] { incumbents_.update(*folder_, run); });
  attempt([&] { telemetry_.write(*folder_, run); });
  events_->update(point);
  if (asked || checkpoints_->due(point.time_s)) return checkpoint(run, point);
  if (checkpoints_->wanted() || !point.has_best) return;
  if (point.time_s - kept_s_ < between_snapshots_s) return;
  kept_s_ = point.time_s;
  snapshot(run);
}

void RunRecord::warn(double time_s, const std::string& code, const std::string& message) {
  if (events_) events_->warning(time_s, code, message);
}

void RunRecord::alert(const AlertChange& change, double time_s) {
  if (events_) events_->alert(change, time_s);
}

void RunRecord::checkpoint(Run& run, const ReportPoint& point) {
  const auto begin = std::chrono::steady_clock::now();
  const bool failed_before = checkpoints_->error() != nullptr;
  run.settle();
  attempt([&] { telemetry_.write(*folder_, run); });
  const auto size = checkpoints_->write(run, notes(""));
  if (point.has_best) snapshot(run);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  checkpoints_->spent(point.time_s, taken.count());
  if (size) return events_->checkpoint(point.time_s, point.sweeps, size->file_bytes, taken.count());
  if (failed_before) return;
  const std::string reason = message_of(checkpoints_->error());
  events_->warning(point.time_s, "checkpoint.write", reason);
  tell("warning[checkpoint.write]: " + reason + "; the run goes on without a new checkpoint");
}

// A run that threw in the middle of a tick has no state to be saved; its last checkpoint stays.
void RunRecord::begin_last_checkpoint(Run& run, const Result& result) {
  if (folder_ == nullptr || !checkpoints_->wanted() || result.stop == Stop::failed) return;
  checkpoints_->begin_last(run);
}

void RunRecord::finish_last_checkpoint(const Result& result) {
  if (folder_ == nullptr || !checkpoints_->wanted() || result.stop == Stop::failed) return;
  checkpoints_->finish_last(notes(to_string(result.stop)));
  if (!error_) error_ = checkpoints_->error();
}

bool RunRecord::keep_state(Run& run) {
  if (folder_ == nullptr || !checkpoints_) return false;
  try {
    run.settle();
    telemetry_.write(*folder_, run);
    return checkpoints_->write(run, notes("")).has_value();
  } catch (const std::exception&) {
    return false;
  }
}

void RunRecord::tell(const std::string& line) const {
  if (tell_ && !options_.has("quiet")) tell_(line);
}

std::string RunRecord::document_of(const Result& result) const {
  return options_.is_extended ? continued_result_json(result) : result_json(result);
}

// A disk that is full for a moment, or no feasible state yet, costs the run nothing.
void RunRecord::snapshot(Run& run) {
  struct Files final : FileWriter {
    explicit Files(RunFolder& files) : folder(files) {}
    void write(const std::string& name, const Pieces& content,
               const std::string& listed_as) const override {
      folder.write(name, content, listed_as);
    }
    RunFolder& folder;
  };
  try {
    Result result = run.result_so_far();
    if (former_ != nullptr) former_->improve(result, problem_);
    if (!result.verified) return;
    output_.write(Files(*folder_), options_, result, problem_, reference_front_, true);
    folder_->write("result.json", document_of(result));
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

void RunRecord::finish(const Result& result, const std::string& text) {
  if (folder_ == nullptr) return;
  attempt([&] { FileWriter::write("result.json", document_of(result)); });
  // Of a run that failed the file has more: the evaluations of its last batch.
  attempt([&] {
    if (!result.evaluations || result.stop == Stop::failed) return;
    finish_evaluations(*result.evaluations);
  });
  attempt([&] { incumbents_.finish(*folder_, result); });
  attempt([&] { events_->finish(result, last_line(text)); });
  for (GrowingFile* file : {evaluations_.get(), sums_.get(), trace_.get(), incumbents_.file(),
                            event_lines_.get(), telemetry_.file(), commands_.get()}) {
    if (file == nullptr) continue;
    file->append("");  // what could not be written before
    if (file->error().empty() || error_) continue;
    error_ = std::make_exception_ptr(
        IoError("io.write", file->error(), {}, "choose a writable folder with free space"));
  }
  write_report();
}

// Last: the report is made from the other files.
void RunRecord::write_report() {
  if (options_.has("no-report")) return;
  const std::string folder = options_.text("output");
  attempt([&] {
    try {
      folder_->replace("report.html", report_of_folder(folder));
    } catch (const std::exception& error) {
      const auto* const known = dynamic_cast<const Error*>(&error);
      throw IoError("io.write",
                    "report.html was not written: " +
                        (known != nullptr ? known->message() : clean(error.what())),
                    {}, "kiln report " + shell_word(folder));
    }
  });
}

template <class Part>  // what keeps one file from being written keeps no other
void RunRecord::attempt(const Part& part) {
  try {
    part();
  } catch (const std::exception&) {
    if (!error_) error_ = std::current_exception();
  }
}

void RunRecord::write(const std::string& name, const Pieces& content,
                      const std::string& listed_as) const {
  try {
    folder_->write(name, content, listed_as);
    return;
  } catch (const IoError&) {
    if (!error_) error_ = std::current_exception();
  }
  // A disk that is full has room for a result if it has none for the last checkpoint.
  if (checkpoints_ && checkpoints_->drop_last()) {
    error_ = std::make_exception_ptr(IoError(
        "io.write",
        std::string(checkpoint_name) +
            ": the last one was left out, because the disk is full: the result has its room",
        {}, "make space; kiln resume continues from the checkpoint before"));
    return write(name, content, listed_as);
  }
  rescue(name, content);
}

// What cost hours is worth a place that nobody asked for.
void RunRecord::rescue(const std::string& name, const Pieces& content) const {
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
        fmt::format("content of {}, which cannot be written to any folder:\n{}\n", name,
                    fmt::join(content, ""));
    // Standard output has the document then, which has everything but evaluations.
    if (options_.has("json") && name == "evaluations.csv") print_note(text);
    if (found && !options_.has("json")) print_result(text);
  }
}

}  // namespace kiln::cli
