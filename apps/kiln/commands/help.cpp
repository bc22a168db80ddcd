// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kiln/version.hpp"

#include "cli/arguments.hpp"
#include "commands/commands.hpp"
#include "manual/manual.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all{
      {"solve", "solve PROBLEM", "optimise a problem; the result goes to standard output",
       run_solve, solve_help, solve_specs},
      {"sample", "sample PROBLEM", "draw from a posterior; report summary, diagnostics, draws",
       run_sample, sample_help, sample_specs},
      {"resume", "resume RUN", "continue a run from its last checkpoint, or extend it", run_resume,
       resume_help, resume_specs},
      {"ask", "ask RUN", "print the next points of a study, to evaluate elsewhere", run_ask,
       ask_help, ask_specs},
      {"tell", "tell RUN ID", "tell a study the value of a point", run_tell, tell_help, tell_specs},
      {"list", "list TOPIC", "list schedules, problems, devices, plug-ins and more", run_list,
       list_help, list_specs},
      {"describe", "describe NAME", "describe a schedule, problem family, file format or kernel",
       run_describe, describe_help, describe_specs},
      {"check", "check WHAT", "read a file or a named problem; report contents and errors",
       run_check, check_help, check_specs},
      {"generate", "generate SPEC", "write an instance of a problem family", run_generate,
       generate_help, generate_specs},
      {"new-plugin", "new-plugin NAME",
       "write the folder of a plug-in, with a schedule and a kernel", run_new_plugin,
       new_plugin_help, new_plugin_specs},
      {"plugin-test", "plugin-test FILE", "test a plug-in: its schedules, problems and kernels",
       run_plugin_test, plugin_test_help, plugin_test_specs},
      {"bench", "bench SUITE", "measure this build on this machine", run_bench, bench_help,
       bench_specs},
      {"tune", "tune [KERNEL]", "measure launch shapes of kernels on this device", run_tune,
       tune_help, tune_specs},
      {"analyze", "analyze FILE", "say what columns of a table tell of each other; landscapes",
       run_analyze, analyze_help, analyze_specs},
      {"multiply", "multiply A B", "multiply two matrices within a stated error", run_multiply,
       multiply_help, multiply_specs},
      {"diagnose", "diagnose RUN", "show diagnostics and advice of a finished run", run_diagnose,
       diagnose_help, diagnose_specs},
      {"watch", "watch RUN", "show a run in progress, or how a run ended", run_watch, watch_help,
       watch_specs},
      {"attach", "attach RUN WHAT", "pause a run in progress, stop it, give it a state", run_attach,
       attach_help, attach_specs},
      {"report", "report RUN...", "write a report on a run, or a comparison of several, as HTML",
       run_report, report_help, report_specs},
      {"doctor", "doctor", "check this machine and say how to fix what fails", run_doctor,
       doctor_help, doctor_specs},
      {"completion", "completion SHELL", "print a script that completes command lines of a shell",
       run_completion, completion_help, completion_specs},
      {"version", "version", "print the version; with --json also those of the documents",
       run_version, version_help, version_specs},
      {"help", "help [VERB]", "print this overview, or the help of one verb", run_help,
       program_help, help_specs},
  };
  return all;
}

const Verb& find_verb(const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return verb;
    names.push_back(verb.name);
  }
  const std::string nearest = nearest_name(name, names);
  const std::string fix = (nearest.empty() ? "" : "kiln " + nearest + " ...; ") +
                          std::string("kiln --help lists the verbs");
  throw InvalidArgument("cli.unknown",
                        fmt::format("unknown verb '{}'{}", clean(name), nearest_hint(name, names)),
                        {}, fix);
}

std::string program_help() {
  std::string text = fmt::format(
      "kiln {}: optimisation and sampling with many replicas on CPU and GPU\n\nusage: kiln VERB "
      "[options]\n\n",
      version());
  for (const Verb& verb : verbs()) text += fmt::format("  {:<15} {}\n", verb.usage, verb.sentence);
  text +=
      "  --version       the same as kiln version\n"
      "\n"
      "exit codes:\n"
      "  0  done            4  device            8  wrong value or gradient\n"
      "  1  defect          5  memory            9  no answer\n"
      "  2  usage           6  output           10  target not reached\n"
      "  3  input           7  CUDA module      11  slower than before\n"
      "  70  device fault                      141  output pipe closed\n"
      "  130, 143  interrupted, terminated\n"
      "\n"
      "examples:\n"
      "  kiln solve gset:G22 --time-limit 30s\n"
      "  kiln solve graph.txt --target 11624 -o out/graph\n"
      "  kiln sample posterior:eight-schools -o out/schools\n"
      "  kiln help solve\n";
  return text;
}

const std::vector<OptionSpec>& help_specs() {
  static const std::vector<OptionSpec> specs{
      {"man", 0, "DIR", "write the manual pages kiln.1, kiln-solve.1, ... into this folder"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

namespace {

void write_manual(const std::string& folder) {
  write_file(folder + "/kiln.1", program_manual(), Existing::replace);
  for (const Verb& verb : verbs()) {
    write_file(folder + "/kiln-" + verb.name + ".1", verb_manual(verb), Existing::replace);
  }
}

}  // namespace

ExitCode run_help(const Words& words) {
  const Arguments arguments = parse_arguments("help", words, help_specs(), 1);
  if (arguments.has("man")) {
    write_manual(arguments.text("man"));
    return ExitCode::ok;
  }
  const bool about_verb = !arguments.positional.empty();
  print_text(about_verb ? find_verb(arguments.positional.front()).help() : program_help());
  return ExitCode::ok;
}

const std::vector<OptionSpec>& version_specs() {
  static const std::vector<OptionSpec> specs{{"json", 0, "", "print one JSON document"},
                                             {"help", 'h', "", "show this help"}};
  return specs;
}

std::string version_help() {
  return "usage: kiln version [--json]\n\n" +
         paragraph("Prints the version of the program, and with --json those of its documents.") +
         "\noptions:\n" + describe_options(version_specs());
}

ExitCode run_version(const Words& words) {
  const Arguments arguments = parse_arguments("version", words, version_specs(), 0);
  if (arguments.has("help")) {
    print_result(version_help());
    return ExitCode::ok;
  }
  if (arguments.has("json")) {
    const nlohmann::ordered_json document = {{"kiln", version()},
                                             {"result", "kiln.result/2"},
                                             {"run", "kiln.run/2"},
                                             {"plan", "kiln.plan/1"},
                                             {"doctor", "kiln.doctor/1"},
                                             {"bench", "kiln.bench/1"},
                                             {"diagnosis", "kiln.diagnosis/1"},
                                             {"watch", "kiln.watch/1"},
                                             {"report", "kiln.report/1"},
                                             {"study", "kiln.study/1"},
                                             {"ask", "kiln.ask/1"},
                                             {"tell", "kiln.tell/1"},
                                             {"study_status", "kiln.study_status/1"},
                                             {"analysis", "kiln.analysis/1"},
                                             {"information", "kiln.information/1"},
                                             {"landscape", "kiln.landscape/1"},
                                             {"run_analysis", "kiln.run_analysis/1"},
                                             {"product", "kiln.product/1"}};
    print_result(document.dump() + "\n");
  } else {
    print_result(fmt::format("kiln {}\n", version()));
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
