// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "kiln/commands/options.hpp"
#include "kiln/errors.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

// Of the values of a block, in the order of BlockValues.
constexpr const char* type_names[] = {"int8", "int32", "float64"};

Json json_of(const State& state) {
  Json blocks = Json::array();
  for (const BlockValues& block : state) {
    const Json values = std::visit([](const auto& list) { return Json(list); }, block);
    blocks.push_back({{type_names[block.index()], values}});
  }
  return blocks;
}

BlockValues values_of(const Json& block) {
  if (block.contains(type_names[0])) return block.at(type_names[0]).get<std::vector<std::int8_t>>();
  if (block.contains(type_names[1])) {
    return block.at(type_names[1]).get<std::vector<std::int32_t>>();
  }
  return block.at(type_names[2]).get<std::vector<double>>();
}

CommandKind kind_of(const std::string& name) {
  for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(CommandKind::inject); ++i) {
    if (to_string(static_cast<CommandKind>(i)) == name) return static_cast<CommandKind>(i);
  }
  throw std::invalid_argument("unknown command '" + name + "'");
}

LoggedCommand command_of(const Json& line) {
  LoggedCommand one;
  one.at = {line.at("stage"), line.at("tick"), line.at("sweeps")};
  one.order = line.at("order");
  one.kind = kind_of(line.at("kind"));
  one.applied = line.at("applied");
  one.reason = line.value("reason", std::string{});
  if (line.contains("temperatures")) line.at("temperatures").get_to(one.data.temperatures);
  if (!line.contains("states")) return one;
  for (const Json& state : line.at("states")) {
    State& values = one.data.states.emplace_back();
    for (const Json& block : state) values.push_back(values_of(block));
  }
  return one;
}

}  // namespace

std::string log_line(const LoggedCommand& command) {
  Json line = {{"stage", command.at.stage},
               {"tick", command.at.tick},
               {"sweeps", command.at.sweeps},
               {"order", command.order},
               {"kind", std::string(to_string(command.kind))},
               {"applied", command.applied}};
  if (!command.reason.empty()) line["reason"] = command.reason;
  if (!command.data.temperatures.empty()) line["temperatures"] = command.data.temperatures;
  for (const State& state : command.data.states) line["states"].push_back(json_of(state));
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<LoggedCommand> read_command_log(std::string_view text, const std::string& name) {
  std::vector<LoggedCommand> all;
  std::int64_t number = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++number;
    try {
      all.push_back(command_of(Json::parse(line)));
    } catch (const std::exception& error) {
      throw ParseError(name,
                       {{number, 0, fmt::format("no line of a log: {}", error.what()),
                         "a line as Kiln writes it: {\"stage\": 0, \"tick\": 12, ...}"}},
                       1);
    }
  }
  return all;
}

}  // namespace kiln
