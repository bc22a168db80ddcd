// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "errors.hpp"

namespace kiln::cli {

using Words = std::vector<std::string>;  ///< of a command line, after the verb

/// A verb of the program. Each gives an exit code or throws.
struct Verb {
  std::string name;
  std::string usage;
  std::string sentence;
  ExitCode (*run)(const Words&);
  std::string (*help)();
  const std::vector<OptionSpec>& (*options)();
};

/// All verbs of this version, in the order of the help.
const std::vector<Verb>& verbs();
/// @throws InvalidArgument with the nearest name.
const Verb& find_verb(const std::string& name);

ExitCode run_solve(const Words& words);
ExitCode run_sample(const Words& words);
ExitCode run_resume(const Words& words);
ExitCode run_ask(const Words& words);
ExitCode run_tell(const Words& words);
ExitCode run_list(const Words& words);
ExitCode run_describe(const Words& words);
ExitCode run_check(const Words& words);
ExitCode run_generate(const Words& words);
ExitCode run_new_plugin(const Words& words);
ExitCode run_plugin_test(const Words& words);
ExitCode run_bench(const Words& words);
ExitCode run_analyze(const Words& words);
ExitCode run_tune(const Words& words);
ExitCode run_multiply(const Words& words);
ExitCode run_diagnose(const Words& words);
ExitCode run_watch(const Words& words);
ExitCode run_attach(const Words& words);
ExitCode run_report(const Words& words);
ExitCode run_doctor(const Words& words);
ExitCode run_completion(const Words& words);
ExitCode run_help(const Words& words);
ExitCode run_version(const Words& words);

std::string solve_help();
std::string sample_help();
std::string resume_help();
std::string ask_help();
std::string tell_help();
std::string list_help();
std::string describe_help();
std::string check_help();
std::string generate_help();
std::string new_plugin_help();
std::string plugin_test_help();
std::string bench_help();
std::string analyze_help();
std::string tune_help();
std::string multiply_help();
std::string diagnose_help();
std::string watch_help();
std::string attach_help();
std::string report_help();
std::string doctor_help();
std::string completion_help();
std::string version_help();
std::string program_help();

const std::vector<OptionSpec>& solve_specs();
const std::vector<OptionSpec>& sample_specs();
const std::vector<OptionSpec>& resume_specs();
const std::vector<OptionSpec>& ask_specs();
const std::vector<OptionSpec>& tell_specs();
const std::vector<OptionSpec>& list_specs();
const std::vector<OptionSpec>& describe_specs();
const std::vector<OptionSpec>& check_specs();
const std::vector<OptionSpec>& generate_specs();
const std::vector<OptionSpec>& new_plugin_specs();
const std::vector<OptionSpec>& plugin_test_specs();
const std::vector<OptionSpec>& bench_specs();
const std::vector<OptionSpec>& analyze_specs();
const std::vector<OptionSpec>& tune_specs();
const std::vector<OptionSpec>& multiply_specs();
const std::vector<OptionSpec>& diagnose_specs();
const std::vector<OptionSpec>& watch_specs();
const std::vector<OptionSpec>& attach_specs();
const std::vector<OptionSpec>& report_specs();
const std::vector<OptionSpec>& doctor_specs();
const std::vector<OptionSpec>& completion_specs();
const std::vector<OptionSpec>& version_specs();
const std::vector<OptionSpec>& help_specs();

/// The topics of `kiln list`, and the shells of `kiln completion`.
std::vector<std::string> list_topics();
std::vector<std::string> completion_shells();

}  // namespace kiln::cli
