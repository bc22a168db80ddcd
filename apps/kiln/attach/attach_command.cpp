// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "kiln/option_info.hpp"
#include "kiln/result.hpp"

#include "attach/attach_wire.hpp"
#include "cli/arguments.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "output/folder_claim.hpp"
#include "output/text.hpp"
#include "run/input_file.hpp"
#include "watch/folder_watch.hpp"

namespace kiln::cli {
namespace {

constexpr CommandKind attach_kinds[] = {
    CommandKind::status,     CommandKind::pause,  CommandKind::resume,      CommandKind::stop,
    CommandKind::checkpoint, CommandKind::inject, CommandKind::temperatures};

bool takes_word(CommandKind kind) {
  return kind == CommandKind::inject || kind == CommandKind::temperatures;
}

CommandKind attach_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const CommandKind kind : attach_kinds) {
    names.emplace_back(to_string(kind));
    if (names.back() == name) return kind;
  }
  throw InvalidArgument(
      "attach.command",
      fmt::format("unknown command '{}'{}", clean(name), nearest_hint(name, names)),
      "status, pause, resume, stop, checkpoint, inject FILE or temperatures T,T,...");
}

// What follows the command on the socket.
std::string bytes_behind(CommandKind kind, const std::string& word) {
  if (kind == CommandKind::inject) {
    std::ifstream file = open_input(word);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.size() <= max_attached_bytes) return text;
    throw InputError("attach.size", fmt::format("{} is larger than 256 MiB", clean(word)));
  }
  std::string bytes;
  if (kind != CommandKind::temperatures) return bytes;
  const std::vector<double> values = detail::parse_reals(word, "temperatures");
  bytes.resize(values.size() * sizeof(double));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

void look_at(std::optional<FolderWatch>& watch, const std::string& folder) {
  try {
    watch.emplace(folder).look();
  } catch (const InvalidArgument& error) {
    if (error.code() != "watch.no_run") throw;
    throw InvalidArgument("attach.no_run", error.message(), {},
                          "kiln solve PROBLEM -o DIR, and then kiln attach DIR status");
  }
}

// The run must live on this machine, and hold the lock of its folder.
void require_running(const std::string& folder) {
  std::optional<FolderWatch> watch;
  look_at(watch, folder);
  const RunView view = watch->view();
  const std::string name = clean(folder), word = shell_word(folder);
  if (is_claimed(folder).value_or(true)) return;
  if (view.life == RunLife::finished && view.run.stop) {
    const std::string& reason = view.run.stop->reason;
    const bool stopped = reason == to_string(Stop::interrupted);
    throw InvalidArgument(
        "attach.finished", fmt::format("{}: the run has ended ({})", name, reason), {},
        fmt::format("kiln resume {}{} continues it", word, stopped ? "" : " --time-limit 60s"));
  }
  throw InvalidArgument("attach.gone", fmt::format("{}: the process of the run is gone", name), {},
                        fmt::format("kiln resume {} continues it from its last checkpoint", word));
}

[[noreturn]] void refuse_silent(const std::string& folder, int reason) {
  if (reason == EACCES) {
    throw InvalidArgument("attach.rights",
                          clean(folder) + ": only the user who started the run can attach to it");
  }
  throw InvalidArgument(
      "attach.silent", fmt::format("{}: nobody listens ({})", clean(folder), std::strerror(reason)),
      "a run on this machine, which has begun and not yet ended",
      "kiln attach on the machine of the run; kiln watch works on every machine that sees the "
      "folder");
}

std::string answer_to(const std::string& folder, const std::string& request) {
  const Descriptor open = open_folder(folder);
  const Descriptor socket = open ? connect_in(open) : Descriptor();
  if (!socket) refuse_silent(folder, errno);
  std::string line;
  if (send_all(socket, request)) {
    for (char next = 0; next != '\n' && receive_all(socket, &next, 1);) line += next;
  }
  if (!line.empty()) return line;
  throw InvalidArgument("attach.ended",
                        clean(folder) +
                            ": the run ended without an answer, so it may or may not "
                            "have obeyed",
                        {}, fmt::format("kiln watch {} --once", shell_word(folder)));
}

std::string answer_text(CommandKind kind, const CommandOutcome& outcome) {
  const std::string at =
      fmt::format("tick {} ({} sweeps of each replica)", outcome.at.tick, outcome.at.sweeps);
  if (kind != CommandKind::status)
    return fmt::format("{}  applied after {}\n", to_string(kind), at);
  return fmt::format("{}  after {}\n", outcome.paused ? "paused" : "running", at);
}

}  // namespace

const std::vector<OptionSpec>& attach_specs() {
  static const std::vector<OptionSpec> specs{
      {"json", 0, "", "print the answer of the run as one line of JSON"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

std::string attach_help() {
  return "usage: kiln attach RUN WHAT [options]\n\n" +
         paragraph(
             "RUN is the folder of a run in progress (kiln solve -o) on this machine. The run "
             "obeys "
             "between two ticks; the answer says after which. What a command changes is in "
             "commands.ndjson of the folder, so that kiln solve --repeat RUN gives the same "
             "answer.") +
         "\nWHAT:\n"
         "  status              say how far the run is\n"
         "  pause               do nothing until resume or stop; a limit waits, too\n"
         "  resume              go on\n"
         "  stop                end the run, as Ctrl-C does\n"
         "  checkpoint          write a checkpoint now\n"
         "  inject FILE         replace the worst replica by the state of a file, in\n"
         "                      the format of --initial, or several by several states\n"
         "  temperatures T,...  give a ladder of temperatures other ones, hottest first\n"
         "\noptions:\n" +
         describe_options(attach_specs()) +
         "\nexamples:\n"
         "  kiln solve gset:G22 --time-limit 10m -o out/g22 -q &\n"
         "  kiln attach out/g22 pause\n"
         "  kiln attach out/g22 inject best/solution.txt\n"
         "  kiln attach out/g22 resume\n";
}

ExitCode run_attach(const Words& words) {
  const Arguments arguments = parse_arguments("attach", words, attach_specs(), 3);
  if (arguments.has("help")) {
    print_text(attach_help());
    return ExitCode::ok;
  }
  const std::vector<std::string>& given = arguments.positional;
  if (given.size() < 2) {
    throw InvalidArgument("cli.missing", "kiln attach needs a run and a command",
                          "a run folder, and status, pause, resume, stop, checkpoint, inject FILE "
                          "or temperatures T,T,...",
                          "kiln attach out/g22 status");
  }
  const std::string& folder = given.front();
  const CommandKind kind = attach_kind(given[1]);
  if (takes_word(kind) != (given.size() == 3)) {
    throw InvalidArgument(
        "attach.command",
        takes_word(kind) ? fmt::format("{} needs {}", given[1],
                                       kind == CommandKind::inject ? "a file" : "temperatures")
                         : fmt::format("{} takes nothing behind it", given[1]),
        {},
        kind == CommandKind::inject         ? "kiln attach out/g22 inject best/solution.txt"
        : kind == CommandKind::temperatures ? "kiln attach out/g22 temperatures 4,2,1,0.5"
                                            : fmt::format("kiln attach out/g22 {}", given[1]));
  }
  require_running(folder);
  const std::string line =
      answer_to(folder, request_bytes(kind, bytes_behind(kind, given.size() == 3 ? given[2] : "")));
  const std::optional<CommandOutcome> outcome = answer_of(line);
  if (!outcome) throw InvalidArgument("attach.answer", "the run gave an answer that is none");
  if (arguments.has("json")) print_result(line);
  if (!outcome->applied) throw InvalidArgument(outcome->code, outcome->reason, {}, outcome->fix);
  if (!arguments.has("json")) print_text(answer_text(kind, *outcome));
  return ExitCode::ok;
}

}  // namespace kiln::cli
