// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kiln/device/begin_run.hpp"
#include "kiln/device/device_fault.hpp"
#include "kiln/watchdog/watchdog.hpp"

#include "attach/attach_server.hpp"
#include "hardware/sensors.hpp"
#include "output/progress.hpp"
#include "run/monitor.hpp"
#include "run/session/session.hpp"

namespace kiln::cli {

/// The run of a session, from its set-up to its files. Who follows it: the folder, the line of
/// progress, the alerts, the sensors of the hardware and the signals of the user.
class SessionRun {
 public:
  SessionRun(Session session, const RunOutput& output);
  SessionRun(const SessionRun&) = delete;
  SessionRun& operator=(const SessionRun&) = delete;

  /// Called once. @param words  of the command, for the folder
  ExitCode run(const std::vector<std::string>& words);

 private:
  bool is_quiet() const { return session_.options.has("quiet"); }
  Run& run() { return *begun_.run; }
  const FormerResult* former() const;

  void set_up();
  void hear_of_evaluations();
  void take_commands();
  void let_attach();
  void stop_by_signal();
  void begin(const std::vector<std::string>& words);
  void announce();
  void follow();
  Next look(const ReportPoint& point);
  Result advance();
  void complete(Result& result);
  void stop_on_lost_device(const CudaError& error);
  std::unique_ptr<Watchdog> watchdog();
  void answer_hang(const Hang& hang);
  [[noreturn]] void give_up_hung(const Hang& hang);
  void leave_if_hung(const Result& result);

  ExitCode conclude(Result& result);
  void write_files(Result& result);
  void compare_unless_in_a_hurry(Result& result) const;
  ExitCode judge(Result& result, bool asked, bool heard);
  [[noreturn]] void end_by(const std::exception_ptr& failure);

  Session session_;
  const RunOutput& output_;
  const Budget limit_;  // as the user sees it
  Progress progress_;
  RunRecord record_;
  std::stop_source stop_;
  std::atomic<bool> has_value_{false};
  std::unique_ptr<StopSignals> signals_;
  BegunRun begun_;
  Budget budget_;  // what the set-up has left of the limit
  std::string changed_;
  std::optional<RunFacts> facts_;
  std::optional<Monitor> monitor_;
  std::optional<Sensors> sensors_;
  std::exception_ptr failure_;
  std::atomic<bool> hung_{false};
  std::uint64_t known_lost_ = 0;
  std::string stage_;  // that the user was told of
  bool paused_ = false;
  std::unique_ptr<AttachServer> attach_;  // while ticks go; last: its threads use the others
};

}  // namespace kiln::cli
