// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "watch/panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t bar_width = 24;
constexpr std::size_t max_alerts_shown = 4;
constexpr std::size_t max_improvements_shown = 3;

constexpr const char* bold = "\x1b[1m";
constexpr const char* yellow = "\x1b[33m";
constexpr const char* plain = "\x1b[0m";

struct Line {
  std::string text;
  const char* color = nullptr;
};
using Lines = std::vector<Line>;

void add(Lines& lines, std::string_view label, std::string text, const char* color = nullptr) {
  if (!text.empty()) lines.push_back({fmt::format("{:<13}{}", label, text), color});
}

void part(std::string& text, const std::string& more) {
  if (more.empty()) return;
  if (!text.empty()) text += "   ";
  text += more;
}

std::string named(std::string_view name, const std::string& value) {
  return value.empty() ? std::string{} : fmt::format("{} {}", name, value);
}

void add_head(Lines& lines, const RunView& view) {
  const WatchedRun& run = view.run;
  std::string problem = run.problem;
  if (!run.samples() && !run.objective.empty()) {
    const char* const verb = run.sense == "maximize" ? "maximise" : "minimise";
    part(problem, fmt::format("{} {}", verb, run.objective));
  }
  part(problem, named("best known", run.best_known_text));
  add(lines, "problem", problem);
  std::string schedule = run.schedule;
  part(schedule, named(run.samples() ? "chains" : "replicas", run.replicas));
  if (run.seed) part(schedule, fmt::format("seed {}", *run.seed));
  add(lines, "schedule", schedule);
  std::string device = run.device;
  if (!run.host.empty()) part(device, "host " + run.host);
  add(lines, "device", device);
}

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(std::lround(share * bar_width));
  return "[" + std::string(full, '#') + std::string(bar_width - full, '-') + "]";
}

std::string elapsed_text(const RunView& view) {
  std::string text = human_seconds(view.elapsed_s);
  if (view.life == RunLife::finished || view.life == RunLife::died) return text;
  const std::optional<double> left = view.run.time_left_s(view.elapsed_s);
  if (!left) return text;
  const double total = view.elapsed_s + *left;
  const double share = total > 0 ? std::clamp(view.elapsed_s / total, 0.0, 1.0) : 1;
  part(text, fmt::format("{} {:.0f} %", bar(share), 100 * share));
  part(text, human_seconds(*left) + " left");
  return text;
}

std::string best_text(const RunView& view) {
  const WatchedRun& run = view.run;
  if (run.samples()) return {};
  if (run.best.empty()) return "none yet";
  std::string text = run.best;
  part(text, named("gap", run.gap()));
  part(text, named("target", run.target));
  if (!run.improvements.empty()) {
    const double since = std::max(0.0, view.elapsed_s - run.improvements.front().time_s);
    part(text, fmt::format("found {} ago", human_seconds(since)));
  }
  return text;
}

std::string state_text(const WatchedRun& run) {
  std::string text;
  const bool all_move = run.samples() || !run.has("attempts_per_ns");  // in a step
  const double moved = all_move ? run.variables.value_or(1) : 1;
  if (run.samples() && run.warmup) {
    part(text, run.sweeps <= *run.warmup ? "warm-up" : "sampling");
  }
  if (run.mean) {
    part(text, fmt::format("{} {:.6g}", run.samples() ? "mean lp" : "mean",
                           run.samples() ? -*run.mean : *run.mean));
  }
  if (run.acceptance_rate) {
    const char* const label = !all_move ? "accept" : run.step == "transition" ? "moved" : "new";
    part(text, fmt::format("{} {:.1f} %", label, 100 * *run.acceptance_rate * moved));
  }
  if (run.beta && !run.samples()) part(text, fmt::format("beta {:.3g}", *run.beta));
  for (const auto& [name, value] : run.notes) part(text, fmt::format("{} {:.6g}", name, value));
  return text;
}

std::string work_text(const WatchedRun& run) {
  std::string text;
  const std::string step = run.step.empty() ? "step" : run.step;
  const char* const plural = run.sweeps == 1 ? "" : step == "batch" ? "es" : "s";
  part(text, fmt::format("{} {}{}", human_count(run.sweeps), step, plural));
  if (run.attempts_per_s && run.has("attempts_per_ns")) {
    part(text, fmt::format("{} attempts/s", human_rate(*run.attempts_per_s)));
  }
  return text;
}

std::string improvements_text(const WatchedRun& run) {
  std::string text;
  std::size_t shown = 0;
  for (const WatchedRun::Improvement& one : run.improvements) {
    if (shown++ == max_improvements_shown) break;
    part(text, fmt::format("{} at {}", one.text, human_seconds(one.time_s)));
  }
  if (run.improvement_count > static_cast<std::int64_t>(max_improvements_shown)) {
    part(text, fmt::format("{} in all", run.improvement_count));
  }
  return text;
}

void add_alerts(Lines& lines, const WatchedRun& run) {
  std::size_t shown = 0;
  for (const auto& [code, alert] : run.alerts) {
    if (shown++ == max_alerts_shown) break;
    add(lines, "alert",
        fmt::format("{} (since {}): {}", code, human_seconds(alert.time_s), alert.message), yellow);
    add(lines, "  fix", alert.fix);
  }
}

// Whole numbers without a fraction, as the events have them.
EventJson number_json(const std::optional<double>& number) {
  if (!number) return nullptr;
  const bool whole = std::abs(*number) < 0x1p53 && std::nearbyint(*number) == *number;
  return whole ? EventJson(static_cast<std::int64_t>(*number)) : EventJson(*number);
}

std::string life_text(const RunView& view) {
  switch (view.life) {
    case RunLife::setting_up:
      return "the run reads its problem";
    case RunLife::running:
      if (!view.run.paused) return {};
      return fmt::format("paused by a command; kiln attach {} resume lets the run go on",
                         clean(view.folder));
    case RunLife::unknown:
      return fmt::format(
          "the files have not changed for {}; the run is on host {}, which cannot be "
          "seen from here",
          human_seconds(view.silent_s), view.run.host.empty() ? "?" : view.run.host);
    case RunLife::died:
    case RunLife::finished:
      return end_text(view);
  }
  return {};
}

// Of a word that is wider than the screen: between two characters.
std::size_t cut_within(const std::string& text, std::size_t columns) {
  if (text.size() <= columns) return text.size();
  std::size_t end = columns;
  while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return end;
}

Lines lines_of(const RunView& view) {
  const WatchedRun& run = view.run;
  Lines lines;
  add(lines, "kiln watch", fmt::format("{}   {}", clean(view.folder), to_string(view.life)));
  if (run.started) {
    add_head(lines, view);
    add(lines, "elapsed", elapsed_text(view));
    add(lines, "best", best_text(view), bold);
    add_alerts(lines, run);  // before what a low terminal has no room for
    add(lines, "now", state_text(run));
    add(lines, "work", work_text(run));
    if (!run.samples()) add(lines, "improved", improvements_text(run));
    if (run.checkpoint_s) {
      const double age = std::max(0.0, view.elapsed_s - *run.checkpoint_s);
      add(lines, "checkpoint", human_seconds(age) + " old");
    }
  }
  add(lines, "warning", run.warning);
  if (run.unreadable_lines > 0) {
    add(lines, "note",
        fmt::format("{} lines of events.ndjson cannot be read", run.unreadable_lines));
  }
  const bool ended = view.life == RunLife::died || view.life == RunLife::finished;
  if (!ended) add(lines, "state", life_text(view));
  return lines;
}

}  // namespace

const char* to_string(RunLife life) noexcept {
  switch (life) {
    case RunLife::setting_up:
      return "setting_up";
    case RunLife::running:
      return "running";
    case RunLife::unknown:
      return "unknown";
    case RunLife::died:
      return "died";
    case RunLife::finished:
      return "finished";
  }
  return "?";
}

std::vector<std::string> panel_lines(const RunView& view, std::size_t columns, std::size_t rows,
                                     bool colors) {
  std::vector<std::string> lines;
  for (const Line& line : lines_of(view)) {
    std::string text = fitted(line.text, columns);
    while (!text.empty()) {
      if (lines.size() == rows) return lines;
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::size_t cut = std::min(end, cut_within(text, columns));
      const bool colored = colors && line.color != nullptr;
      std::string row = text.substr(0, cut);
      lines.push_back(colored ? line.color + row + plain : std::move(row));
      text.erase(0, cut == end ? end + 1 : cut);
    }
  }
  return lines;
}

std::string event_line(const EventJson& event) {
  const std::string kind = text_of(event, "event");
  std::string text;
  if (kind == "start") {
    for (const char* name : {"problem", "schedule", "device"}) part(text, text_of(event, name));
    part(text, named("seed", value_of(event, "seed")));
  } else if (kind == "progress" || kind == "improvement") {
    part(text, named("best", value_of(event, "best")));
    part(text, named("mean", value_of(event, "mean")));
    part(text, named("sweeps", value_of(event, "sweeps")));
    if (const auto left = number_of(event, "time_left_s")) {
      part(text, human_seconds(*left) + " left");
    }
  } else if (kind == "stop") {
    part(text, text_of(event, "stop"));
  } else if (kind == "checkpoint" || kind == "resume" || kind == "pause" || kind == "continue") {
    part(text, named("sweeps", value_of(event, "sweeps")));
    part(text, named("bytes", value_of(event, "bytes")));
    part(text, text_of(event, "device"));
  } else {
    part(text, text_of(event, "code"));
    part(text, text_of(event, "message"));
    part(text, named("fix:", text_of(event, "fix")));
  }
  if (text.empty()) return {};
  return fmt::format("{:>8}   {:<11}   {}", human_seconds(number_of(event, "time_s").value_or(0)),
                     kind, text);
}

EventJson watch_json(const RunView& view) {
  const WatchedRun& run = view.run;
  const auto or_null = [](const auto& number) { return number ? EventJson(*number) : nullptr; };
  EventJson json = {
      {"schema", "kiln.watch/1"},
      {"run", clean(view.folder)},
      {"state", to_string(view.life)},
      {"paused", view.life == RunLife::running && run.paused},
      {"problem", run.problem},
      {"schedule", run.schedule},
      {"device", run.device},
      {"host", run.host},
      {"seed", run.seed ? EventJson(*run.seed) : nullptr},
      {"time_s", view.elapsed_s},
      {"silent_s", view.silent_s},
      {"sweeps", number_json(run.sweeps)},
      {"best", number_json(run.best_value)},
      {"best_known", number_json(run.best_known)},
      {"mean", or_null(run.mean)},
      {"acceptance_rate", or_null(run.acceptance_rate)},
      {"beta", or_null(run.beta)},
      {"attempts_per_s", run.has("attempts_per_ns") ? or_null(run.attempts_per_s) : nullptr},
      {"checkpoint_s", or_null(run.checkpoint_s)}};
  json["time_left_s"] = view.life == RunLife::finished || view.life == RunLife::died
                            ? nullptr
                            : or_null(run.time_left_s(view.elapsed_s));
  json["improvements"] = EventJson::array();
  for (const WatchedRun::Improvement& one : run.improvements) {
    json["improvements"].push_back({{"time_s", one.time_s}, {"value", number_json(one.value)}});
  }
  json["alerts"] = EventJson::array();
  for (const auto& [code, alert] : run.alerts) {
    json["alerts"].push_back(
        {{"code", code}, {"time_s", alert.time_s}, {"message", alert.message}, {"fix", alert.fix}});
  }
  json["stop"] = nullptr;
  if (run.stop) {
    json["stop"] = {{"reason", run.stop->reason},
                    {"time_s", run.stop->time_s},
                    {"verified", run.stop->verified},
                    {"line", run.stop->line}};
  }
  json["next"] = view.next.empty() ? nullptr : EventJson(view.next);
  json["unreadable_lines"] = run.unreadable_lines;
  return json;
}

std::string end_text(const RunView& view) {
  const WatchedRun& run = view.run;
  if (view.life == RunLife::finished && run.stop) {
    if (!run.stop->line.empty()) return run.stop->line;
    return fmt::format("done   {} after {:.1f} s, without a verified answer", run.stop->reason,
                       run.stop->time_s);
  }
  if (view.life != RunLife::died) return {};
  return fmt::format("{}: the process of the run ended after {} without a result\n  fix: {}",
                     clean(view.folder), human_seconds(view.elapsed_s), view.next);
}

}  // namespace kiln::cli
