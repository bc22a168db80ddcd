// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "kiln/registry.hpp"
#include "kiln/version.hpp"

#include "commands/commands.hpp"
#include "completion/completion_tables.hpp"

namespace kiln::cli {
namespace {

/// "f", "d", "p", "o", "n", "a" or "w words", as the function below reads it.
std::string code_of(const ValueChoice& choice) {
  switch (choice.kind) {
    case ValueKind::none:
      return "n";
    case ValueKind::any:
      return "a";
    case ValueKind::file:
      return "f";
    case ValueKind::folder:
      return "d";
    case ValueKind::words:
      return "w " + words_of(choice.words);
    case ValueKind::parameters:
      return "p";
    case ValueKind::problems:
      return "o";
  }
  return "a";
}

/// The cases of a table from names to texts. Names and texts are words of this program: no quotes.
std::string table(const std::string& function,
                  const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string text = function + "() {\n  case $1 in\n";
  for (const auto& [name, value] : rows)
    text += fmt::format("    '{}') _kiln='{}' ;;\n", name, value);
  return text + "    *) _kiln= ;;\n  esac\n}\n";
}

std::string option_tables() {
  std::vector<std::pair<std::string, std::string>> names, values, arguments;
  for (const Verb& verb : verbs()) {
    std::vector<std::string> words;
    for (const OptionSpec& option : verb.options()) {
      const std::string code = code_of(choice_of(option));
      values.emplace_back(verb.name + " --" + option.name, code);
      if (option.letter != 0)
        values.emplace_back(verb.name + " -" + std::string(1, option.letter), code);
      if (!option.sentence.empty()) words.push_back("--" + option.name);
    }
    names.emplace_back(verb.name, words_of(words));
    arguments.emplace_back(verb.name, code_of(argument_of(verb.usage)));
  }
  return table("_kiln_options", names) + table("_kiln_value", values) +
         table("_kiln_argument", arguments);
}

std::string word_table(const std::string& function, const std::vector<NamedWords>& all) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const NamedWords& one : all) rows.emplace_back(one.name, words_of(one.words));
  return table(function, rows);
}

std::string verb_line() {
  std::string text;
  for (const Verb& verb : verbs()) text += (text.empty() ? "" : " ") + verb.name;
  return "_kiln_verbs='" + text + " --help --version'\n";
}

std::string family_line() {
  std::string text;
  const Registry registry = builtin_registry();
  for (const ProblemEntry* entry : registry.problems()) {
    text += (text.empty() ? "" : " ") + entry->name + (entry->parameters.empty() ? "" : ":");
  }
  return "_kiln_families='" + text + "'\n";
}

// bash ends words at ':' and '='. So the functions read the line itself, and strip from each
// completion the part before the last of these characters in the word.
constexpr const char* bash_functions = R"SCRIPT(
_kiln_add() {  # WORDS: those that go on with what is typed
  local word
  for word in $1; do
    [[ $word == "$_kiln_typed"* ]] && COMPREPLY+=("$word")
  done
}

_kiln_files() {  # -f or -d
  local path
  while IFS= read -r path; do
    COMPREPLY+=("$path")
  done < <(compgen "$1" -- "$_kiln_typed")
  compopt -o filenames 2>/dev/null
}

_kiln_offer() {  # CODE of a value
  case $1 in
    f) _kiln_files -f ;;
    d) _kiln_files -d ;;
    w\ *) _kiln_add "${1#w }" ;;
    p)
      _kiln_parameters "$_kiln_schedule"
      if [[ $_kiln_typed == *=* ]]; then
        _kiln_add "$_kiln"
      else
        local word keys=
        for word in $_kiln; do
          [[ $word == *= ]] && keys+=" $word"
        done
        _kiln_add "$keys"
        compopt -o nospace 2>/dev/null
      fi
      ;;
    o)
      if [[ $_kiln_typed == *:* ]]; then
        local family=${_kiln_typed%%:*} word names=
        _kiln_instances "$family"
        for word in $_kiln; do
          names+=" $family:$word"
        done
        _kiln_add "$names"
        [[ ${COMPREPLY[*]} != *- ]] || compopt -o nospace 2>/dev/null
      else
        _kiln_files -f
        local files=${#COMPREPLY[@]}
        _kiln_add "$_kiln_families"
        [[ $files -gt 0 ]] || compopt -o nospace +o filenames 2>/dev/null
      fi
      ;;
  esac
}

_kiln_complete() {
  local _kiln= _kiln_typed= _kiln_schedule= line=${COMP_LINE:0:COMP_POINT}
  local -a words
  read -ra words <<<"$line"
  if [[ $line == *[[:blank:]] ]]; then
    words+=("")
  fi
  local last=$((${#words[@]} - 1))
  _kiln_typed=${words[last]}
  COMPREPLY=()
  if [[ $last -le 1 ]]; then
    _kiln_add "$_kiln_verbs"
    return
  fi
  local verb=${words[1]} i word
  _kiln_schedule=$_kiln_default
  [[ $verb != sample ]] || _kiln_schedule=$_kiln_sampler
  [[ $verb != bench ]] || _kiln_schedule=bayesian-optimization
  for ((i = 2; i < last; ++i)); do
    word=${words[i]}
    case $word in
      --schedule) _kiln_schedule=${words[i + 1]} ;;
      --schedule=*) _kiln_schedule=${word#*=} ;;
    esac
  done
  local whole=$_kiln_typed
  _kiln_value "$verb ${words[last - 1]}"
  if [[ $_kiln_typed == --*=* ]]; then
    _kiln_value "$verb ${_kiln_typed%%=*}"
    _kiln_typed=${_kiln_typed#*=}
    _kiln_offer "$_kiln"
    local begin=${whole%"$_kiln_typed"}
    COMPREPLY=("${COMPREPLY[@]/#/$begin}")
  elif [[ -n $_kiln && $_kiln != n ]]; then
    _kiln_offer "$_kiln"
  elif [[ $_kiln_typed == -* ]]; then
    _kiln_options "$verb"
    _kiln_add "$_kiln"
  else
    _kiln_argument "$verb"
    _kiln_offer "$_kiln"
  fi
  local cut=${whole%"${whole##*[:=]}"} breaks=${COMP_WORDBREAKS-:=}
  [[ $cut == *: && $breaks != *:* ]] && cut=
  [[ $cut == *= && $breaks != *=* ]] && cut=
  if [[ -n $cut ]]; then
    for ((i = 0; i < ${#COMPREPLY[@]}; ++i)); do
      COMPREPLY[i]=${COMPREPLY[i]#"$cut"}
    done
  fi
}

complete -F _kiln_complete kiln
)SCRIPT";

}  // namespace

std::string bash_completion() {
  return fmt::format("# bash completion of kiln {}: written by `kiln completion bash`\n",
                     version()) +
         verb_line() + family_line() + "_kiln_default=simulated-annealing\n_kiln_sampler=hmc\n" +
         option_tables() + word_table("_kiln_parameters", parameter_words()) +
         word_table("_kiln_instances", problem_words()) + bash_functions;
}

}  // namespace kiln::cli
