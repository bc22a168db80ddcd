// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "kiln/version.hpp"

#include "commands/commands.hpp"
#include "completion/completion_tables.hpp"

namespace kiln::cli {
namespace {

/// A sentence inside [...] of _arguments, in single quotes.
std::string described(const std::string& sentence) {
  std::string text;
  for (const char c : sentence) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text;
}

/// What offers the values, as the last part of a specification of _arguments.
std::string action_of(const ValueChoice& choice) {
  switch (choice.kind) {
    case ValueKind::none:
    case ValueKind::any:
      return " ";
    case ValueKind::file:
      return "_files";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::words:
      return "(" + words_of(choice.words) + ")";
    case ValueKind::parameters:
      return "_kiln_parameters";
    case ValueKind::problems:
      return "_kiln_problems";
  }
  return " ";
}

std::string option_line(const OptionSpec& option) {
  const std::string sentence = "[" + described(option.sentence) + "]";
  const std::string value =
      option.value.empty() ? ""
                           : ":" + described(option.value) + ":" + action_of(choice_of(option));
  const std::string equals = option.value.empty() ? "" : "=";
  // Those that may be repeated say so.
  const std::string again = option.sentence.ends_with("may be repeated") ? "*" : "";
  std::string text =
      fmt::format("        '{}--{}{}{}{}'", again, option.name, equals, sentence, value);
  if (option.letter != 0) {
    text += fmt::format(" \\\n        '{}-{}{}{}'", again, option.letter, sentence, value);
  }
  return text + " \\\n";
}

std::string verb_case(const Verb& verb) {
  std::string text = fmt::format("    {})\n      _arguments \\\n", verb.name);
  for (const OptionSpec& option : verb.options()) {
    if (!option.sentence.empty()) text += option_line(option);
  }
  const ValueChoice argument = argument_of(verb.usage);
  if (argument.kind == ValueKind::none) return text + "        ;;\n";
  const std::string many = verb.usage.ends_with("...") ? "*" : "";
  return text + fmt::format("        '{}:{}:{}'\n      ;;\n", many.empty() ? "1" : many,
                            described(verb.usage.substr(verb.name.size() + 1)),
                            action_of(argument));
}

std::string array_of(const std::string& name, const std::vector<NamedWords>& all) {
  std::string text = "typeset -gA " + name + "=(\n";
  for (const NamedWords& one : all)
    text += fmt::format("  '{}' '{}'\n", one.name, words_of(one.words));
  return text + ")\n";
}

constexpr const char* zsh_functions = R"SCRIPT(
_kiln_parameters() {
  local schedule=$kiln_schedule i
  for ((i = 1; i < CURRENT; ++i)); do
    case $words[i] in
      --schedule) schedule=$words[i+1] ;;
      --schedule=*) schedule=${words[i]#*=} ;;
    esac
  done
  compadd -S '' -- ${=kiln_parameter_words[$schedule]}
}

_kiln_problems() {
  local family=${PREFIX%%:*}
  if [[ $PREFIX == *:* ]]; then
    compadd -- $family:${^=kiln_problem_words[$family]}
  else
    compadd -S '' -- ${^${(k)kiln_problem_words}}:
    _files
  fi
}
)SCRIPT";

}  // namespace

std::string zsh_completion() {
  std::string text = fmt::format(
      "#compdef kiln\n# zsh completion of kiln {}: written by `kiln completion zsh`\n", version());
  text += array_of("kiln_parameter_words", parameter_words());
  text += array_of("kiln_problem_words", problem_words());
  text += zsh_functions;
  text += "\n_kiln() {\n  local kiln_schedule=simulated-annealing\n  local -a kiln_verbs=(\n";
  for (const Verb& verb : verbs()) {
    text += fmt::format("    '{}:{}'\n", verb.name, described(verb.sentence));
  }
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe 'verb' kiln_verbs\n"
      "    return\n"
      "  fi\n"
      "  local verb=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  [[ $verb != sample ]] || kiln_schedule=hmc\n"
      "  [[ $verb != bench ]] || kiln_schedule=bayesian-optimization\n"
      "  case $verb in\n";
  for (const Verb& verb : verbs()) text += verb_case(verb);
  return text +
         "  esac\n}\n\n"
         "if [[ $funcstack[1] == _kiln ]]; then\n"
         "  _kiln \"$@\"\n"
         "else\n"
         "  compdef _kiln kiln\n"
         "fi\n";
}

}  // namespace kiln::cli
