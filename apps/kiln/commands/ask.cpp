// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "kiln/backend.hpp"
#include "kiln/option_info.hpp"

#include "cli/arguments.hpp"
#include "cli/document_file.hpp"
#include "cli/option_values.hpp"
#include "cli/sense.hpp"
#include "cli/settings.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/interruption.hpp"
#include "study/study_folder.hpp"
#include "study/study_search.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

void refuse_together(const Arguments& arguments, const char* one,
                     std::initializer_list<const char*> others) {
  for (const char* other : others) {
    if (!arguments.has(one) || !arguments.has(other)) continue;
    throw InvalidArgument("cli.conflict",
                          fmt::format("--{} and --{} exclude each other", one, other));
  }
}

std::int64_t count_of(const Arguments& arguments, const char* name, std::int64_t standard,
                      std::int64_t most) {
  if (!arguments.has(name)) return standard;
  const Setting setting{arguments.text(name), Origin::command_line};
  return std::any_cast<std::int64_t>(whole_number({1, most, "8"})(name, setting));
}

StudySettings new_settings(const Arguments& arguments) {
  StudySettings settings;
  const Settings given = settings_of(arguments);
  if (arguments.has("var")) settings.variables = arguments.options.at("var");
  if (arguments.has("constraints")) settings.constraints = arguments.text("constraints");
  if (sense_of(given) == Sense::maximize) settings.sense = "maximize";
  if (arguments.has("seed")) {
    settings.seed = std::any_cast<std::uint64_t>(seed_number()("seed", given.at("seed")));
  }
  if (arguments.has("evaluations")) {
    settings.evaluations = count_of(arguments, "evaluations", 0, 1000000);
  }
  for (const auto& [name, setting] : parameters_of(arguments)) {
    settings.parameters[name] = setting.text;
  }
  return settings;
}

ExitCode make_study(const std::string& path, const Arguments& arguments) {
  refuse_together(arguments, "new", {"number", "publish", "values", "status"});
  StudySettings settings = new_settings(arguments);
  const Problem problem = settings.problem();
  const std::string asked = arguments.has("device") ? arguments.text("device") : "auto";
  const std::string name = open_backend(asked).backend->info().name;
  settings.device = name.starts_with("cuda") ? "cuda" : "cpu";
  static_cast<void>(settings.optimizer(problem));  // which refuses what it cannot search
  StudyFolder::create(path, settings);
  if (arguments.has("json")) {
    print_result(document_text({{"schema", "kiln.ask/1"}, {"points", Json::array()}}, -1));
    return ExitCode::ok;
  }
  const std::string word = shell_word(path);
  print_text(fmt::format("study  {}   {} variables   {} value   seed {}   device {}\n", clean(path),
                         problem.coordinates.size(), verb_of(problem.units.sense), settings.seed,
                         settings.device));
  print_text(fmt::format("next   kiln ask {}   |   kiln tell {} ID VALUE\n", word, word));
  return ExitCode::ok;
}

// The points that are this process's now.
std::vector<PointDocument> points_for(const StudyFolder& folder, std::int64_t count) {
  std::vector<PointDocument> mine = folder.claim(count);
  const auto missing = [&] { return count - static_cast<std::int64_t>(mine.size()); };
  if (missing() == 0) return mine;
  const StudyLock lock(folder);
  StudyRecord record = folder.read();
  folder.repair(record);
  for (PointDocument& point : folder.claim(missing())) mine.push_back(std::move(point));
  if (missing() == 0) return mine;
  try {
    for (const StudyPoint& point : next_points(folder, record, missing())) {
      folder.publish(point, /*claimed=*/true);
      mine.push_back(folder.document_of(point));
    }
  } catch (const ObjectiveError&) {
    if (mine.empty()) throw;
  }
  return mine;
}

std::vector<PointDocument> published_points(const StudyFolder& folder, std::int64_t count) {
  const StudyLock lock(folder);
  StudyRecord record = folder.read();
  folder.repair(record);
  std::vector<PointDocument> points;
  for (const StudyPoint& point : next_points(folder, record, count)) {
    folder.publish(point, /*claimed=*/false);
    points.push_back(folder.document_of(point));
  }
  return points;
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("escaped")) return value["escaped"].get<std::string>();
  return value.dump();
}

std::string line_of(const PointDocument& point, bool values_alone) {
  std::string line = point["id"].dump();
  for (const auto& [name, value] : point["point"].items()) {
    line += values_alone ? "\t" + escaped(text_of(value))
                         : " " + name + "=" + shell_word(escaped(text_of(value)));
  }
  return line + "\n";
}

void print_points(const std::vector<PointDocument>& points, const Arguments& arguments) {
  if (arguments.has("json")) {
    print_result(document_text({{"schema", "kiln.ask/1"}, {"points", points}}, -1));
    return;
  }
  for (const PointDocument& point : points) {
    print_result(line_of(point, arguments.has("values")));
  }
}

// Points that nobody got to see wait for the next process that asks.
ExitCode hand_out(const StudyFolder& folder, const std::vector<PointDocument>& points,
                  const Arguments& arguments) {
  const auto take_back = [&] {
    const StudyLock lock(folder);
    for (const PointDocument& point : points) folder.release(point["id"].get<std::int64_t>());
  };
  try {
    print_points(points, arguments);
    if (flush_results()) return ExitCode::ok;
  } catch (const IoError&) {
    take_back();
    throw;
  }
  take_back();
  return ExitCode::broken_pipe;
}

Json status_of(const StudyFolder& folder, const StudyRecord& record) {
  Json status = {{"schema", "kiln.study_status/1"},
                 {"evaluations", record.told()},
                 {"failed", record.failed()},
                 {"sense", folder.settings().sense},
                 {"best", nullptr},
                 {"pending", Json::array()}};
  if (const StudyPoint* const best = record.best(folder.problem().units.sense)) {
    status["best"] = folder.document_of(*best);
    status["best"]["value"] = best->value;
  }
  for (const std::int64_t id : record.pending()) {
    Json point = folder.document_of(record.points.at(id));
    point["claimed"] = folder.is_claimed(id);
    status["pending"].push_back(std::move(point));
  }
  return status;
}

void print_status(const StudyFolder& folder, const Arguments& arguments) {
  const StudyLock lock(folder);
  const Json status = status_of(folder, folder.read());
  if (arguments.has("json")) return print_result(document_text(status, -1));
  std::string text = fmt::format("evaluations  {} ({} failed)\n", status["evaluations"].dump(),
                                 status["failed"].dump());
  if (!status["best"].is_null()) {
    text += fmt::format("best         {} at point {}", status["best"]["value"].dump(),
                        line_of(status["best"], false));
  }
  for (const Json& point : status["pending"]) {
    text += fmt::format("{:<13}point {}", point["claimed"] == true ? "claimed" : "waiting",
                        line_of(point, false));
  }
  print_text(text);
}

}  // namespace

const std::vector<OptionSpec>& ask_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all{
        {"new", 0, "", "make the study, and ask for no point"},
        {"var", 0, "NAME=KIND",
         "variable of a new study; KIND is real:LOW:HIGH, real:LOW:HIGH:log, int:LOW:HIGH or "
         "cat:A,B; may be repeated"},
        {"constraints", 0, "N",
         "number of constraint values of each point of a new study; a point is feasible if all are "
         "<= 0"},
        {"sense", 0, "NAME", "minimize (default) or maximize the values of a new study"}};
    all.insert(all.end(), sense_specs().begin(), sense_specs().end());
    all.insert(all.end(),
               {{"evaluations", 0, "N", "number of points of a new study (default: no limit)"},
                {"seed", 0, "N", "random seed of a new study (default 1)"},
                {"device", 0, "NAME",
                 "device of a new study: auto, cpu or cuda (default auto: a GPU if present)"},
                {"parameter", 'p', "KEY=VALUE",
                 "parameter of bayesian-optimization for a new study; may be repeated"},
                {"number", 'n', "N", "number of points (default 1)"},
                {"publish", 0, "", "leave the points in the folder waiting, for others to claim"},
                {"values", 0, "", "print the id and the values of a point, with tabs between them"},
                {"status", 0, "", "print the best point and the pending points, and ask for none"},
                {"json", 0, "", "print one JSON document"},
                {"help", 'h', "", "show this help"}});
    return all;
  }();
  return specs;
}

std::string ask_help() {
  return "usage: kiln ask RUN [-n N] [options]\n"
         "       kiln ask --new RUN --var NAME=KIND... [options]\n\n" +
         paragraph(
             "Prints the next points of a study: points that you, a laboratory or a cluster "
             "evaluate, and whose values kiln tell takes. RUN is the folder of the study, which "
             "--new makes. Any number of processes may ask at the same time, and each point goes "
             "to one of them. The exit code is 9 if there is no further point.") +
         "\noptions:\n" + describe_options(ask_specs()) +
         "\nexamples:\n"
         "  kiln ask --new lab --var x=real:20:90 --var y=cat:water,ethanol --maximize\n"
         "  kiln ask lab\n"
         "  kiln tell lab 1 71.5\n"
         "  kiln ask lab --status\n";
}

ExitCode run_ask(const Words& words) {
  const Arguments arguments = parse_arguments("ask", words, ask_specs(), 1, {"var", "parameter"});
  if (arguments.has("help")) {
    print_text(ask_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty() || arguments.positional.front().empty()) {
    throw InvalidArgument("cli.missing", "kiln ask needs the folder of a study", {},
                          "kiln ask --new lab --var x=real:0:1");
  }
  const std::string& path = arguments.positional.front();
  const EndBySignal interruptible("asking " + clean(path));
  if (arguments.has("new")) return make_study(path, arguments);
  for (const char* name : {"var", "constraints", "sense", "minimize", "maximize", "evaluations",
                           "seed", "device", "parameter"}) {
    if (!arguments.has(name)) continue;
    throw InvalidArgument("cli.conflict",
                          fmt::format("--{} is for a new study, and never changes", name), {},
                          fmt::format("kiln ask --new {} ...", clean(path)));
  }
  refuse_together(arguments, "status", {"number", "publish", "values"});
  refuse_together(arguments, "json", {"values"});
  const std::int64_t count = count_of(arguments, "number", 1, 4096);
  const StudyFolder folder(path);
  if (arguments.has("status")) {
    print_status(folder, arguments);
  } else if (arguments.has("publish")) {
    print_points(published_points(folder, count), arguments);
  } else {
    return hand_out(folder, points_for(folder, count), arguments);
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
