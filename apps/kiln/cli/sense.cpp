// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/sense.hpp"

#include <fmt/format.h>

#include "kiln/errors.hpp"
#include "kiln/objectives/turned.hpp"

#include "output/text.hpp"

namespace kiln::cli {
namespace {

Sense sense_named(const Setting& setting) {
  for (const char* word : {"minimize", "minimise", "min"}) {
    if (setting.text == word) return Sense::minimize;
  }
  for (const char* word : {"maximize", "maximise", "max"}) {
    if (setting.text == word) return Sense::maximize;
  }
  const std::string place = setting.place.empty() ? "" : setting.place + ": ";
  throw InvalidArgument(
      "problem.sense",
      fmt::format("{}--sense {} is neither minimize nor maximize", place, clean(setting.text)), {},
      "--sense minimize or --sense maximize");
}

}  // namespace

const std::vector<OptionSpec>& sense_specs() {
  static const std::vector<OptionSpec> specs{
      {"minimize", 0, "", "minimise the objective; `kiln check` shows the default sense"},
      {"minimise", 0, "", "", {}, "minimize"},
      {"maximize", 0, "", "maximise the objective, for example of a QUBO"},
      {"maximise", 0, "", "", {}, "maximize"}};
  return specs;
}

std::optional<Sense> sense_of(const Settings& settings) {
  std::optional<Sense> sense;
  Origin origin = Origin::standard;
  for (const char* name : {"sense", "minimize", "maximize"}) {
    const auto found = settings.find(name);
    if (found == settings.end()) continue;
    const Setting& setting = found->second;
    const bool named = found->first == "sense";
    const Sense said = named ? sense_named(setting)
                             : (found->first == "minimize" ? Sense::minimize : Sense::maximize);
    if (sense && said != *sense && setting.origin == origin) {
      throw InvalidArgument("cli.conflict", "the problem cannot be minimised and maximised at once",
                            {}, "give --minimize or --maximize, but not both");
    }
    if (sense && setting.origin < origin) continue;
    sense = said;
    origin = setting.origin;
  }
  return sense;
}

Problem in_sense(Problem problem, std::optional<Sense> sense) {
  if (!sense) return problem;
  // Several objectives are refused there, whatever their number for people is.
  if (problem.objectives || *sense != problem.units.sense) return turned(problem);
  return problem;
}

}  // namespace kiln::cli
