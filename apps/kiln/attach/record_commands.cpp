// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run folder keeps of commands.
#include <exception>
#include <filesystem>
#include <string>

#include "attach/command_files.hpp"
#include "output/run_record.hpp"

namespace kiln::cli {

// A run that continues cuts its log also where no command comes any more. What it repeats it needs
// after a kill, too.
void RunRecord::keep_commands() {
  try {
    if (folder_->continues()) {
      if (!std::filesystem::exists(folder_->place_of(command_log))) return;
      commands_ = grow(command_log);
      const std::vector<LoggedCommand> told = commands_of_run(folder_->place_of(command_log));
      if (told.empty() || told.back().kind != CommandKind::stop) return;
      commands_->append(log_line({told.back().at, told.back().order, CommandKind::resume}), true);
      return;
    }
    std::string text;
    for (const LoggedCommand& one : options_.run.commands.repeat) text += log_line(one);
    if (!text.empty()) folder_->write(repeated_command_log, text);
  } catch (const std::exception&) {
    if (!error_) error_ = std::current_exception();
  }
}

void RunRecord::log(const LoggedCommand& command) {
  if (folder_ == nullptr) return;
  if (!commands_) commands_ = grow(command_log);
  commands_->append(log_line(command), true);
}

// Whoever sent the command hears that it is applied: a crash must not lose it.
void RunRecord::keep_told(Run& run) noexcept {
  if (folder_ == nullptr || !checkpoints_->wanted()) return;
  try {
    checkpoint(run, newest_);
  } catch (const std::exception&) {
    // A run that fails says so where it goes on.
  }
}

void RunRecord::checkpoint_now(Run& run) {
  checkpoint(run, newest_);
  if (checkpoints_->error()) std::rethrow_exception(checkpoints_->error());
}

}  // namespace kiln::cli
