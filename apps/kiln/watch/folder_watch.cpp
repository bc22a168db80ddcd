// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "watch/folder_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>  // gethostname

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"  // shell_word

#include "errors.hpp"
#include "output/folder_claim.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// A run writes a row of its trace ten times a second, unless its evaluations are expensive.
constexpr double quiet_s = 3, long_quiet_s = 30;
constexpr double longest_age_s = 864e2;  // a clock that is a day off says nothing

bool is_this_host(const std::string& name) {
  std::array<char, 256> own{};
  return ::gethostname(own.data(), own.size() - 1) == 0 && name == clean(own.data());
}

bool has(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::exists(folder / name, ignored);
}

}  // namespace

FolderWatch::FolderWatch(std::string folder)
    : folder_(std::move(folder)), path_(folder_), events_(path_ / "events.ndjson") {
  std::error_code ignored;
  const bool is_run =
      fs::is_directory(path_, ignored) && (has(path_, "run.json") || has(path_, "events.ndjson") ||
                                           is_claimed(folder_).value_or(false));
  if (is_run) return;
  throw InvalidArgument("watch.no_run", fmt::format("{} is not a run folder", clean(folder_)),
                        "a folder that kiln solve -o or kiln sample -o has made",
                        "kiln solve PROBLEM -o DIR, and then kiln watch DIR");
}

std::vector<EventJson> FolderWatch::read_events() {
  std::vector<EventJson> events;
  for (bool more = true; more;) {
    FollowedFile::News news = events_.read();
    more = news.more;
    if (news.restarted) {
      run_ = WatchedRun{};
      bad_lines_ = 0;
    }
    for (const std::string& line : news.lines) {
      std::optional<EventJson> event = parse_event(line);
      if (!event) {
        ++bad_lines_;
        continue;
      }
      run_.apply(*event);
      events.push_back(std::move(*event));
    }
  }
  run_.unreadable_lines = bad_lines_ + events_.long_lines();
  return events;
}

bool FolderWatch::read_trace() {
  const LastLines lines = last_lines(path_ / "trace.csv");
  const std::optional<TracePoint> point = trace_point(lines.first, lines.last);
  if (!point || !run_.started || run_.stop || point->time_s <= run_.time_s) return false;
  run_.apply(*point);
  return true;
}

std::vector<EventJson> FolderWatch::look() {
  std::error_code error;
  if (!fs::is_directory(path_, error)) {
    throw InputError("watch.vanished",
                     fmt::format("{}: the run folder was removed or renamed", clean(folder_)),
                     "a run whose folder is gone writes its result to a temporary folder",
                     "kiln watch NEW-NAME, if the folder was renamed");
  }
  std::vector<EventJson> events = read_events();
  const bool grew = read_trace();
  const Clock::time_point now = Clock::now();
  if (grew || !events.empty()) {
    changed_ = now;
    if (!looked_) {  // the files may be old
      changed_ -= std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * age_s()));
    }
  }
  const bool due =
      silent_s() >= quiet_s && std::chrono::duration<double>(now - asked_).count() >= quiet_s;
  if (!looked_ || due || run_.stop || grew || !events.empty()) {
    const bool asks = !looked_ || due;
    life_ = run_.stop ? RunLife::finished : asks ? judge_life() : RunLife::running;
    if (asks) asked_ = now;
    if (life_ == RunLife::died) {  // its last event may have come since
      std::vector<EventJson> last = read_events();
      std::move(last.begin(), last.end(), std::back_inserter(events));
      if (run_.stop) life_ = RunLife::finished;
    }
  }
  looked_ = true;
  return events;
}

// A free lock proves the end of a process on this machine only.
RunLife FolderWatch::judge_life() {
  const std::optional<bool> claimed = is_claimed(folder_);
  if (claimed.value_or(false)) return run_.started ? RunLife::running : RunLife::setting_up;
  if (!run_.started && !has(path_, "events.ndjson")) {
    throw InputError(
        "watch.no_events",
        fmt::format("{} has no events.ndjson, and no run writes to it", clean(folder_)),
        "the run was killed at its start, or the file was removed",
        fmt::format("kiln diagnose {}", shell_word(folder_)));
  }
  if (claimed && (run_.host.empty() || is_this_host(run_.host))) return RunLife::died;
  return silent_s() < long_quiet_s ? RunLife::running : RunLife::unknown;
}

// Seconds since the files changed, by their times.
double FolderWatch::age_s() const {
  const double events = events_.age_s().value_or(longest_age_s);
  const double trace = FollowedFile(path_ / "trace.csv").age_s().value_or(longest_age_s);
  return std::clamp(std::min(events, trace), 0.0, longest_age_s);
}

double FolderWatch::silent_s() const {
  return std::chrono::duration<double>(Clock::now() - changed_).count();
}

RunView FolderWatch::view() const {
  RunView view{folder_, run_, life_, run_.time_s, silent_s(), ""};
  if (life_ == RunLife::died) view.next = "kiln resume " + shell_word(folder_);
  if (life_ == RunLife::running || life_ == RunLife::unknown) view.elapsed_s += view.silent_s;
  return view;
}

}  // namespace kiln::cli
