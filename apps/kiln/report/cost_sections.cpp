// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "output/text.hpp"
#include "report/bar.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_listed = 60;

std::string bytes_html(const std::string& field, double bytes) {
  const double held = std::clamp(bytes, 0.0, 1e18);
  return data_html(field, bytes, human_bytes(static_cast<std::uint64_t>(held)));
}

/// A tile of a number; "" where it is not there.
/// @param form  how it is shown, for fmt
std::string tile_of(const Json& json, const char* part, const char* name, const char* label,
                    const char* form, double factor = 1) {
  const auto value = number_at(json, {name});
  if (!value) return {};
  return tile_html(label, data_html(fmt::format("{}.{}", part, name), *value,
                                    fmt::format(fmt::runtime(form), factor * *value)));
}

std::string tiles(const std::string& all) {
  return all.empty() ? all : "<div class=\"tiles\">\n" + all + "</div>\n";
}

std::string optional_cell(const Json& one, const char* name, const char* form, double factor = 1) {
  const auto value = number_at(one, {name});
  return value ? fmt::format(fmt::runtime(form), factor * *value) : "-";
}

std::vector<std::string> kernel_row(const Json& one) {
  const auto time = number_at(one, {"time_s"}), bytes = number_at(one, {"bytes"}),
             floor = number_at(one, {"floor_s"});
  const bool timed = time && *time > 0;
  return {html(text_at(one, {"name"}).value_or("?")),
          optional_cell(one, "share", "{:.1f} %", 100),
          bar_html(number_at(one, {"share"}).value_or(0)),
          optional_cell(one, "launches", "{:.0f}"),
          optional_cell(one, "time_s", "{:.4g} s"),
          timed && bytes ? fmt::format("{:.0f} GB/s", *bytes / *time / 1e9) : "-",
          timed && floor ? fmt::format("{:.3g}", *time / *floor) : "-"};
}

}  // namespace

std::string bar_html(double share) {
  return fmt::format(
      "<svg viewBox=\"0 0 100 10\" width=\"100\" height=\"10\" aria-hidden=\"true\"><rect "
      "class=\"mark c1\" width=\"{:.1f}\" height=\"10\"/></svg>",
      100 * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0));
}

std::string memory_html(const Json& result) {
  const Json& memory = member_at(result, {"memory"});
  if (!memory.is_object()) return {};
  std::string text;
  const auto peak = number_at(memory, {"peak_bytes"}),
             planned = number_at(memory, {"planned_bytes"});
  if (peak) text += tile_html("peak", bytes_html("memory.peak_bytes", *peak));
  if (planned) text += tile_html("planned", bytes_html("memory.planned_bytes", *planned));
  if (peak && planned && *planned > 0) {
    text += tile_html("peak / plan", fmt::format("{:.2f} %", 100 * *peak / *planned));
  }
  std::vector<std::vector<std::string>> rows{{"owner", "peak", "", "at the end"}};
  const Json& owners = member_at(memory, {"owners"});
  for (std::size_t i = 0; owners.is_array() && i < std::min(owners.size(), max_listed); ++i) {
    const Json& one = owners[i];
    const std::string name = text_at(one, {"owner"}).value_or("?");
    const auto most = number_at(one, {"peak_bytes"}), bytes = number_at(one, {"bytes"});
    const double share = peak && *peak > 0 ? most.value_or(0) / *peak : 0;
    const std::string path = fmt::format("memory.owners.{}.", i);
    rows.push_back({html(name), most ? bytes_html(path + "peak_bytes", *most) : "-",
                    bar_html(share), bytes ? bytes_html(path + "bytes", *bytes) : "-"});
  }
  return tiles(text) + table_html(rows, 1);
}

std::string profile_html(const Json& result) {
  const Json& profile = member_at(result, {"profile"});
  if (!profile.is_object()) return {};
  std::string text = tile_of(profile, "profile", "device_s", "device time", "{:.4g} s");
  text += tile_of(profile, "profile", "busy_share", "device busy", "{:.1f} %", 100);
  text += tile_of(profile, "profile", "gaps_s", "gaps between kernels", "{:.4g} s");
  text += tile_of(profile, "profile", "host_s", "host time", "{:.4g} s");
  std::vector<std::vector<std::string>> rows{
      {"kernel", "share", "", "launches", "time", "bytes / time", "time / floor"}};
  const Json& kernels = member_at(profile, {"kernels"});
  for (std::size_t i = 0; kernels.is_array() && i < std::min(kernels.size(), max_listed); ++i) {
    rows.push_back(kernel_row(kernels[i]));
  }
  return tiles(text) + table_html(rows, 1);
}

std::string hardware_html(const Json& result) {
  const Json& hardware = member_at(result, {"hardware"});
  if (!hardware.is_object()) return {};
  std::string text = tile_of(hardware, "hardware", "energy_j", "energy", "{:.4g} J");
  const auto part = [&](const char* group, const char* name, const char* label, const char* form) {
    const Json& members = member_at(hardware, {group});
    const std::string path = fmt::format("hardware.{}", group);
    text += tile_of(members, path.c_str(), name, label, form);
  };
  part("power_w", "mean", "mean power", "{:.4g} W");
  part("power_w", "max", "largest power", "{:.4g} W");
  part("sm_clock_mhz", "min", "least SM clock", "{:.0f} MHz");
  part("sm_clock_mhz", "mean", "mean SM clock", "{:.0f} MHz");
  part("sm_clock_mhz", "max", "largest SM clock", "{:.0f} MHz");
  part("temperature_c", "max", "largest temperature", "{:.0f} °C");
  const Json& throttled = member_at(hardware, {"throttled"});
  std::string reasons;
  for (std::size_t i = 0; throttled.is_array() && i < std::min(throttled.size(), max_listed); ++i) {
    if (!throttled[i].is_string()) continue;
    reasons += (reasons.empty() ? "" : ", ") + html(throttled[i].get<std::string>());
  }
  if (!reasons.empty()) {
    text += tile_html("clocks were lowered by", "<span class=\"bad\">" + reasons + "</span>");
  }
  return tiles(text);
}

std::string events_html(const RunFiles& files) {
  std::vector<std::vector<std::string>> rows{{"time", "event", ""}};
  for (const Json& event : files.events) {
    const std::string kind = text_at(event, {"event"}).value_or("?");
    if (kind == "improvement" || kind == "progress" || kind == "start") continue;
    if (rows.size() > 4 * max_listed) break;
    std::string told;
    for (const char* name : {"code", "message", "fix", "stop"}) {
      if (const auto text = text_at(event, {name})) told += (told.empty() ? "" : " - ") + *text;
    }
    rows.push_back({optional_cell(event, "time_s", "{:.4g} s"), html(kind), html(told)});
  }
  return table_html(rows, 3);
}

std::string options_html(const Json& run) {
  std::vector<std::vector<std::string>> rows{{"option", "value", "from"}};
  const auto add = [&](const Json& settings, const char* dashes) {
    for (const auto& [name, setting] : settings.items()) {
      const Json& value = member_at(setting, {"value"});
      const std::string text =
          value.is_boolean() ? "on" : text_at(setting, {"value"}).value_or("?");
      const std::string place = text_at(setting, {"place"}).value_or("");
      rows.push_back(
          {html(dashes + name), html(text),
           html(text_at(setting, {"origin"}).value_or("") + (place.empty() ? "" : ", " + place))});
    }
  };
  const Json& options = member_at(run, {"options"});
  const Json& given = member_at(run, {"schedule", "given"});
  if (options.is_object()) add(options, "--");
  if (given.is_object()) add(given, "-p ");
  std::vector<std::vector<std::string>> parameters{{"parameter", "value"}};
  const Json& all = member_at(run, {"schedule", "parameters"});
  for (const auto& [name, value] : all.items()) {
    if (value.is_string()) parameters.push_back({html(name), html(value.get<std::string>())});
  }
  std::string text = table_html(rows, 3);
  const std::string table = table_html(parameters, 2);
  if (!table.empty()) text += "<h3>Parameters of the schedule, resolved</h3>\n" + table;
  return text;
}

}  // namespace kiln::cli
