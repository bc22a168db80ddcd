// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/arguments.hpp"
#include "cli/document_file.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/signals.hpp"
#include "watch/folder_watch.hpp"
#include "watch/screen.hpp"

namespace kiln::cli {
namespace {

constexpr std::chrono::milliseconds between_looks{250}, between_frames{500}, nap{20};

}  // namespace

const std::vector<OptionSpec>& watch_specs() {
  static const std::vector<OptionSpec> specs{
      {"once", 0, "", "show the present state, and end"},
      {"json", 0, "",
       "print each event as one line of JSON; of a run that has ended, and with --once, one "
       "document"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

namespace {

// One column of a terminal stays free.
std::string panel_text(const RunView& view) {
  const bool seen = results_are_seen();
  const std::size_t columns = seen ? result_columns() : std::size_t{79};
  std::string text;
  for (const std::string& line : panel_lines(view, columns, 1000, has_colors()))
    text += line + "\n";
  return text;
}

ExitCode conclude(const RunView& view, bool json, bool streamed) {
  if (json) {
    if (!streamed || view.life == RunLife::died) print_result(document_text(watch_json(view), -1));
  } else if (view.life == RunLife::finished) {
    print_text(end_text(view) + "\n");
  }
  if (view.life == RunLife::finished) {
    return view.run.stop->verified ? ExitCode::ok : ExitCode::no_answer;
  }
  if (view.life != RunLife::died) return ExitCode::ok;
  print_note(fmt::format("error[watch.died]: {}\n", end_text(view)));
  return ExitCode::no_answer;
}

/// Shows what each look has found, in the form that was asked for.
class WatchOutput {
 public:
  explicit WatchOutput(bool json) : json_(json) {
    if (!json && has_screen()) screen_.emplace();
  }

  void show(const std::vector<EventJson>& events, const RunView& view) {
    if (screen_) return draw(view);
    for (const EventJson& event : events) {
      if (json_) {
        print_result(document_text(event, -1));
      } else if (const std::string line = event_line(event); !line.empty()) {
        print_result(clean(line) + "\n");
      }
    }
  }
  /// Ctrl-Z, which must not leave the terminal in its second screen.
  void stop_if_asked() {
    if (screen_ && screen_->stop_if_asked()) drawn_.reset();
  }
  // The last state stays on the first screen.
  void end(const RunView& view) {
    if (!screen_) return;
    screen_.reset();
    print_result(panel_text(view));
  }

 private:
  void draw(const RunView& view) {
    const auto now = std::chrono::steady_clock::now();
    if (drawn_ && now - *drawn_ < between_frames) return;
    drawn_ = now;
    const ScreenSize size = screen_size();
    std::vector<std::string> lines =
        panel_lines(view, size.columns - 1, size.rows - 1, has_colors());
    lines.emplace_back("Ctrl-C ends this view, not the run");
    screen_->draw(lines);
  }

  bool json_;
  std::optional<Screen> screen_;
  std::optional<std::chrono::steady_clock::time_point> drawn_;
};

// Sleeps until the next look. Gives false after a signal.
bool wait(const std::atomic<bool>& asked, WatchOutput& output) {
  const auto until = std::chrono::steady_clock::now() + between_looks;
  while (!asked && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(nap);
    output.stop_if_asked();
  }
  return !asked;
}

ExitCode follow(FolderWatch& watch, std::vector<EventJson> events, bool json) {
  std::atomic<bool> asked{false};
  const StopSignals signals([&] { asked = true; });
  WatchOutput output(json);
  for (;;) {
    output.show(events, watch.view());
    if (watch.has_ended()) break;
    if (!flush_results() || !results_have_reader()) return ExitCode::broken_pipe;
    if (!wait(asked, output)) {
      output.end(watch.view());
      return signals.exit_code();
    }
    events = watch.look();
  }
  output.end(watch.view());
  return conclude(watch.view(), json, true);
}

}  // namespace

std::string watch_help() {
  return "usage: kiln watch RUN [options]\n\n" +
         paragraph(
             "RUN is the folder that kiln solve -o or kiln sample -o writes, of a run in progress "
             "or of one that has ended. On a terminal the state of the run is shown and kept "
             "fresh; in a pipe each event is a line. kiln watch only reads files, so it works "
             "on every machine that sees the folder, and any number of times at once. Ctrl-C ends "
             "kiln watch (exit code 130), and not the run.") +
         "\noptions:\n" + describe_options(watch_specs()) +
         "\nexamples:\n"
         "  kiln solve gset:G22 --time-limit 10m -o out/g22 -q &\n"
         "  kiln watch out/g22\n"
         "  ssh -t cluster kiln watch out/g22\n"
         "  kiln watch out/g22 --once --json\n";
}

ExitCode run_watch(const Words& words) {
  const Arguments arguments = parse_arguments("watch", words, watch_specs(), 1);
  if (arguments.has("help")) {
    print_text(watch_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln watch needs a run", "a run folder",
                          "kiln watch out/g22");
  }
  const bool json = arguments.has("json");
  FolderWatch watch(arguments.positional.front());
  std::vector<EventJson> events = watch.look();
  const bool once = arguments.has("once");
  const bool is_document = json || once || has_screen();
  if (!once && !(watch.has_ended() && is_document)) return follow(watch, std::move(events), json);
  if (!json) print_result(panel_text(watch.view()));
  return conclude(watch.view(), json, false);
}

}  // namespace kiln::cli
