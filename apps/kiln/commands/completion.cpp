// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "commands/commands.hpp"
#include "completion/completion_tables.hpp"
#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {

const std::vector<OptionSpec>& completion_specs() {
  static const std::vector<OptionSpec> specs{{"help", 'h', "", "show this help"}};
  return specs;
}

std::vector<std::string> completion_shells() { return {"bash", "zsh"}; }

std::string completion_help() {
  return "usage: kiln completion bash|zsh\n\n" +
         paragraph(
             "Prints a script that lets a shell complete command lines of kiln: verbs, options, "
             "schedules, problems and parameters. An installed kiln is completed without it.") +
         "\noptions:\n" + describe_options(completion_specs()) +
         "\nexamples:\n"
         "  source <(kiln completion bash)\n"
         "  kiln completion zsh >~/.zfunc/_kiln\n";
}

ExitCode run_completion(const Words& words) {
  const Arguments arguments = parse_arguments("completion", words, completion_specs(), 1);
  if (arguments.has("help")) {
    print_text(completion_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln completion needs the name of a shell", "bash or zsh",
                          "kiln completion bash");
  }
  const std::string& shell = arguments.positional.front();
  if (shell == "bash") {
    print_result(bash_completion());
  } else if (shell == "zsh") {
    print_result(zsh_completion());
  } else {
    const std::string near = nearest_name(shell, completion_shells());
    throw InvalidArgument(
        "cli.unknown",
        fmt::format("unknown shell '{}'{}", clean(shell), nearest_hint(shell, completion_shells())),
        "available: bash zsh", "kiln completion " + (near.empty() ? "bash" : near));
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
