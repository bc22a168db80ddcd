// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

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
ExitCode run_bench(const Words& words);
ExitCode run_diagnose(const Words& words);
ExitCode run_watch(const Words& words);
ExitCode run_report(const Words& words);
ExitCode run_doctor(const Words& words);
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
std::string bench_help();
std::string diagnose_help();
std::string watch_help();
std::string report_help();
std::string doctor_help();
std::string version_help();
std::string program_help();

}  // namespace kiln::cli
