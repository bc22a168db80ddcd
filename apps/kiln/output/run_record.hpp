// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/observer.hpp"
#include "kiln/run.hpp"

#include "cli/settings.hpp"
#include "experiments/evaluation_files.hpp"
#include "experiments/recalled_evaluations.hpp"
#include "output/events.hpp"
#include "output/run_folder.hpp"
#include "output/run_logs.hpp"
#include "output/solve_text.hpp"
#include "run/checkpoint_files.hpp"

namespace kiln::cli {

class FormerResult;

/// What a verb makes of a result.
struct RunOutput {
  /// Files of the run folder beside those that every run has; one that fails keeps no other from
  /// being written.
  void (*write)(const class FileWriter& files, const CommandOptions& options, const Result& result,
                const Problem& problem, const Points& reference_front, bool in_a_hurry);
  /// For people, on standard output.
  std::string (*text)(const CommandOptions& options, const Result& result, const Problem& problem);
};

/// Writes files of a run, each by itself.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  virtual void write(const std::string& name, const Pieces& content,
                     const std::string& listed_as) const = 0;
  void write(const std::string& name, const std::string& content) const {
    write(name, Pieces{content}, name);
  }
};

/// Keeps what a run finds in its folder while it finds it: evaluations one by one, trace and events
/// as they come, checkpoint and best state every minute, and all at the end, however that comes.
/// Without a folder it does nothing.
class RunRecord final : FileWriter {
 public:
  /// @param folder  null: none was asked for
  RunRecord(RunFolder* folder, const CommandOptions& options, const Problem& problem,
            const Points& reference_front, const RunOutput& output);
  ~RunRecord() override;

  /// What RunOptions::on_evaluation is to be; empty where nothing is kept or evaluations are cheap.
  std::function<void(const Evaluation&)> evaluation_log(bool few_evaluations);
  /// Evaluations that the folder has already: they get no second row. May be null.
  void recall(std::shared_ptr<const RecalledEvaluations> known) { recalled_ = std::move(known); }
  /// What the folder held before: no result of the continuation is worse. May be null.
  void keep_better(const FormerResult* former) { former_ = former; }
  /// The newest checkpoint is damaged: the next one must not make it the previous one.
  void drop_damaged_checkpoint();
  /// Keeps the records of a run with these options.
  void keep_telemetry(TelemetryOptions& options);
  /// The run is set up, and has its first states: what cannot be written is told at the end.
  /// @param checkpoint  that the run continues from; null: it begins
  void begin(const RunFacts& facts, const std::vector<std::string>& words,
             const Checkpoint* checkpoint = nullptr);
  /// The run continues from that checkpoint, or from its beginning.
  void go_on(const Run& run);
  /// A report point.
  void update(const ReportPoint& point, Run& run);
  /// Something that the user should know, by the time of the run.
  void warn(double time_s, const std::string& code, const std::string& message);
  /// A command, into commands.ndjson.
  void log(const LoggedCommand& command);
  /// Writes a checkpoint between two ticks, because a command asks for it. @throws IoError, ...
  void checkpoint_now(Run& run);
  /// Keeps what a command has changed, if the run keeps checkpoints.
  void keep_told(Run& run) noexcept;
  /// An alert is raised, or has ended.
  void alert(const AlertChange& change, double time_s);
  /// The run was interrupted before it found anything: unless evaluations were made, however they
  /// ended, the folder has nothing that another start would not make anew, and vanishes.
  void withdraw() noexcept;
  /// The state that the run ended in, so that it can be continued: taken before all other files,
  /// and written while they are. It gets its name last, when the result is there.
  void begin_last_checkpoint(Run& run, const Result& result);
  void finish_last_checkpoint(const Result& result);
  /// Memory ended: writes a checkpoint of the last whole tick, whether checkpoints were asked for
  /// or not. False: there is none, or no place for it.
  bool keep_state(Run& run);
  /// Who shows what the user should know meanwhile.
  void tell_by(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }
  /// What the run was for: the files of the verb. Before anything that takes time.
  void keep_solution(const Result& result, bool in_a_hurry);
  /// Everything else. What cannot be written into the folder goes to a folder for temporary
  /// files, or to standard output, and `error()` has the first reason.
  /// @param text  what the verb says of the result; "" for a result that is not verified
  void finish(const Result& result, const std::string& text);
  std::exception_ptr error() const noexcept { return error_; }

 private:
  void write(const std::string& name, const Pieces& content,
             const std::string& listed_as) const override;
  template <class Part>
  void attempt(const Part& part);
  void rescue(const std::string& name, const Pieces& content) const;
  std::unique_ptr<GrowingFile> grow(const std::string& name);
  void begin_evaluations();
  void begin_sums();
  void append_evaluation(const Evaluation& one);
  void finish_evaluations(const Evaluations& evaluations);
  void keep_logs(const Checkpoint* checkpoint);
  void keep_commands();
  CheckpointNotes notes(const std::string& finished) const;
  void checkpoint(Run& run, const ReportPoint& point);
  void tell(const std::string& line) const;
  std::string document_of(const Result& result) const;
  void trace(const ReportPoint& point);
  void snapshot(Run& run);
  void write_report();

  RunFolder* folder_;
  const CommandOptions& options_;
  const Problem& problem_;
  const Points& reference_front_;
  const RunOutput& output_;
  std::optional<EvaluationTable> evaluation_table_;  // once there are evaluations
  std::shared_ptr<const RecalledEvaluations> recalled_;
  const FormerResult* former_ = nullptr;
  std::optional<LineSums> line_sums_;
  std::unique_ptr<GrowingFile> evaluations_, sums_, trace_, event_lines_, commands_;
  ReportPoint newest_;
  std::unique_ptr<Events> events_;
  const LoadedProblem* loaded_ = nullptr;  // once the run has begun
  mutable std::optional<CheckpointFiles> checkpoints_;
  std::function<void(const std::string&)> tell_;
  double kept_s_ = 0;
  TelemetryLog telemetry_;
  IncumbentLog incumbents_;
  mutable std::exception_ptr error_;
  mutable std::string shelter_;  // the folder for temporary files, once there is one
};

}  // namespace kiln::cli
