// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "catalogue.hpp"

#include <fmt/format.h>

#include "text.hpp"

namespace kiln::cli {

using Json = nlohmann::ordered_json;

Json json_of(const ScheduleEntry& entry) {
  Json fields = Json::array();
  for (const FieldInfo& field : entry.fields) {
    fields.push_back({{"name", field.name},
                      {"type", field.type},
                      {"unit", field.unit},
                      {"default", field.default_text},
                      {"range", field.range},
                      {"sentence", field.sentence}});
  }
  return {{"name", entry.name}, {"sentence", entry.sentence}, {"parameters", fields}};
}

Json json_of(const ProblemEntry& entry) {
  return {{"name", entry.name},
          {"parameters", entry.parameters},
          {"sentence", entry.sentence},
          {"examples", entry.examples}};
}

Json json_of(const FormatInfo& info) {
  return {{"name", info.name},
          {"suffixes", info.suffixes},
          {"sentence", info.description},
          {"grammar", info.grammar},
          {"example", info.example}};
}

std::string pattern_of(const ProblemEntry& entry) {
  return entry.name + (entry.parameters.empty() ? "" : ":") + entry.parameters;
}

std::string fields_text(const std::vector<FieldInfo>& fields) {
  std::string text;
  for (const FieldInfo& field : fields) {
    const std::string unit = field.unit.empty() ? "" : ", " + field.unit;
    text += fmt::format("  {:<18}{}{}, {} (default {})\n", field.name, field.type, unit,
                        field.range, field.default_text);
    for (const std::string& line : wrap(field.sentence, 76))
      text += fmt::format("{:20}{}\n", "", line);
  }
  return text;
}

}  // namespace kiln::cli
