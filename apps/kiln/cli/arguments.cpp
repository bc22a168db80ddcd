// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>

#include "errors.hpp"
#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* positional_name = "<positional>";

std::vector<std::string> long_names(const std::vector<OptionSpec>& specs) {
  std::vector<std::string> names;
  names.reserve(specs.size());
  for (const OptionSpec& spec : specs) names.push_back(spec.name);
  return names;
}

po::options_description description_of(const std::vector<OptionSpec>& specs) {
  po::options_description description;
  for (const OptionSpec& spec : specs) {
    std::string name = spec.name;
    if (spec.letter != 0) name += fmt::format(",{}", spec.letter);
    if (spec.value.empty()) {
      description.add_options()(name.c_str(), "");
    } else {
      description.add_options()(name.c_str(), po::value<std::string>(), "");
    }
  }
  description.add_options()(positional_name, po::value<std::vector<std::string>>(), "");
  return description;
}

// A verb's own word for what another verb calls otherwise.
std::string other_word(std::string_view name, const std::vector<OptionSpec>& specs) {
  constexpr std::array<std::string_view, 2> copies{"replicas", "chains"};
  if (std::ranges::find(copies, name) == copies.end()) return {};
  for (const OptionSpec& spec : specs) {
    if (std::ranges::find(copies, spec.name) != copies.end()) {
      return fmt::format("; this verb has '--{}'", spec.name);
    }
  }
  return {};
}

[[noreturn]] void unknown_option(const std::string& verb, std::string token,
                                 const std::vector<OptionSpec>& specs) {
  token = token.substr(0, token.find('='));
  const std::size_t dashes = std::min<std::size_t>(token.find_first_not_of('-'), 2);
  std::string hint;
  if (dashes == 2) {
    hint = other_word(token.substr(dashes), specs);
    if (hint.empty()) hint = nearest_hint(token.substr(dashes), long_names(specs), "--");
  }
  throw InvalidArgument("cli.unknown", fmt::format("unknown option '{}'{}", clean(token), hint), {},
                        hint.empty() ? fmt::format("kiln {} --help lists all options", verb) : "");
}

[[noreturn]] void missing_value(const std::string& name, const std::vector<OptionSpec>& specs) {
  std::string value = "VALUE";
  for (const OptionSpec& spec : specs) {
    const bool by_letter = name.size() == 2 && name[1] == spec.letter;
    if (by_letter || name == "--" + spec.name) value = spec.value;
  }
  throw InvalidArgument("cli.value", fmt::format("{} needs a value", clean(name)), {},
                        fmt::format("{} {}", clean(name), value));
}

po::parsed_options run_parser(const std::string& verb, const std::vector<std::string>& words,
                              const std::vector<OptionSpec>& specs,
                              const po::options_description& description) {
  po::positional_options_description positional;
  positional.add(positional_name, -1);
  // Guessing would take --see for --seed, and break scripts when an option is added.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    return po::command_line_parser(words)
        .options(description)
        .positional(positional)
        .style(style)
        .run();
  } catch (const po::unknown_option& error) {
    unknown_option(verb, error.get_option_name(), specs);
  } catch (const po::invalid_command_line_syntax& error) {
    if (error.kind() == po::invalid_syntax::extra_parameter) {
      throw InvalidArgument("cli.value", clean(error.get_option_name()) + " takes no value");
    }
    missing_value(error.get_option_name(), specs);
  } catch (const po::error& error) {
    throw InvalidArgument("cli.syntax", clean(error.what()));
  }
}

const OptionSpec& spec_of(const std::string& name, const std::vector<OptionSpec>& specs) {
  const auto found =
      std::ranges::find_if(specs, [&](const OptionSpec& spec) { return spec.name == name; });
  if (found == specs.end()) throw std::logic_error("no option named " + name);
  return *found;
}

// `--target --json` would take "--json" as the target.
void refuse_option_as_value(const std::string& name, const std::string& value,
                            const std::vector<OptionSpec>& specs) {
  if (!value.starts_with("--")) return;
  const std::string word = value.substr(2, value.find('=') - 2);
  const auto is_word = [&](const OptionSpec& spec) { return spec.name == word; };
  if (std::ranges::any_of(specs, is_word)) missing_value("--" + name, specs);
}

}  // namespace

std::string Arguments::text(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::string{} : found->second.front();
}

Arguments parse_arguments(const std::string& verb, const std::vector<std::string>& words,
                          const std::vector<OptionSpec>& specs, std::size_t max_positional,
                          const std::vector<std::string>& repeatable) {
  const po::options_description description = description_of(specs);
  const po::parsed_options parsed = run_parser(verb, words, specs, description);

  Arguments arguments;
  for (const po::option& option : parsed.options) {
    if (option.position_key >= 0 || option.string_key == positional_name) {
      std::ranges::copy(option.value, std::back_inserter(arguments.positional));
      continue;
    }
    const OptionSpec& spec = spec_of(option.string_key, specs);
    const std::string name = spec.alias_of.empty() ? spec.name : spec.alias_of;
    const std::string value = option.value.empty() ? std::string{} : option.value.front();
    refuse_option_as_value(name, value, specs);
    std::vector<std::string>& values = arguments.options[name];
    if (!values.empty() && !spec.value.empty() && std::ranges::count(repeatable, name) == 0) {
      throw InvalidArgument("cli.repeated", fmt::format("--{} is given twice", name), {},
                            fmt::format("give --{} once", name));
    }
    values.push_back(value);
  }
  if (arguments.positional.size() > max_positional) {
    throw InvalidArgument(
        "cli.extra",
        fmt::format("unexpected argument '{}'", clean(arguments.positional[max_positional])), {},
        fmt::format("kiln {} --help shows the arguments", verb));
  }
  return arguments;
}

std::string describe_options(const std::vector<OptionSpec>& specs) {
  constexpr std::size_t column = 31;
  const std::size_t columns = result_columns();
  std::string text;
  for (const OptionSpec& spec : specs) {
    if (spec.sentence.empty()) continue;
    std::string left = spec.letter != 0 ? fmt::format("  -{}, --{}", spec.letter, spec.name)
                                        : fmt::format("      --{}", spec.name);
    if (!spec.value.empty()) left += " " + spec.value;
    for (const std::string& line : wrap(spec.sentence, std::max(column + 20, columns) - column)) {
      text += fmt::format("{:<{}}{}\n", left, column, left.size() < column ? line : " " + line);
      left.clear();
    }
  }
  return text;
}

}  // namespace kiln::cli
