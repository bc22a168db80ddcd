// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kiln/option_info.hpp"

#include "diagnosis/diagnosis_words.hpp"
#include "output/text.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

/// The number as the file has it: 13359, not 13359.0.
std::string exact(const Json& number) { return number.is_number() ? number.dump() : "-"; }

/// The tile of a number of the result; "" where it is not there.
std::string number_tile(const RunFiles& files, const char* label, const char* part,
                        const char* name, const std::string& note = {}) {
  const std::optional<double> value = number_at(files.result, {part, name});
  if (!value) return {};
  const Json& json = member_at(files.result, {part, name});
  const std::string shown =
      json.is_number_integer() && std::abs(*value) < 1e6 ? exact(json) : short_number(*value);
  return tile_html(label, data_html(fmt::format("{}.{}", part, name), *value, shown), note);
}

std::string sense_words(const RunFiles& files) {
  return is_maximized(files) ? "maximised" : "minimised";
}

// Kiln does not call a program again to check what it printed.
bool is_program(const RunFiles& files) {
  const std::string family = text_at(files.result, {"problem", "family"}).value_or("");
  return family == "command" || family == "table";
}

std::string best_tile(const RunFiles& files) {
  const std::optional<double> best = number_at(files.result, {"objective", "best"});
  const std::string label = fmt::format("best {}, {}", value_name_of(files), sense_words(files));
  if (!best) {
    if (files.incumbents.empty()) return {};
    const double value = files.incumbents.back().value;
    return tile_html(label + ", so far", html(fmt::format("{:.10g}", value)), "not verified");
  }
  const Json& json = member_at(files.result, {"objective", "best"});
  const bool whole = json.is_number_integer();
  const bool verified = member_at(files.result, {"verified"}) == true;
  return tile_html(
      label, data_html("objective.best", *best, whole ? exact(json) : fmt::format("{:.7g}", *best)),
      verified ? (is_program(files) ? "as the program or the table gave it"
                                    : "recomputed on the CPU: equal")
               : "<span class=\"bad\">not verified</span>");
}

std::string gap_tile(const RunFiles& files) {
  const std::optional<double> gap = number_at(files.result, {"objective", "gap"});
  if (!gap) return {};
  const Json& known = member_at(files.result, {"objective", "best_known"});
  const std::string shown_known =
      known.is_number_float() ? fmt::format("{:.7g}", known.get<double>()) : exact(known);
  return tile_html("gap", data_html("objective.gap", *gap, fmt::format("{:.4g} %", 100 * *gap)),
                   "best known " + html(shown_known));
}

std::string seconds_tile(const RunFiles& files, const char* label, const char* name) {
  const std::optional<double> seconds = number_at(files.result, {"time", name});
  if (!seconds) return {};
  return tile_html(label,
                   data_html(fmt::format("time.{}", name), *seconds, duration_text(*seconds)));
}

std::string stop_tile(const RunFiles& files) {
  const std::string stop = text_at(files.result, {"stop"}).value_or("");
  if (files.under_way) return tile_html("state", "in progress");
  if (stop.empty() || stop == "unfinished") {
    return tile_html("state", "<span class=\"bad\">no end</span>",
                     "the run was killed, or its folder was copied while it ran");
  }
  return tile_html("stop", html(stop == "converged" ? "finished" : words_of(stop)));
}

/// A tile of the worst of all quantities: {"name": ..., "value": ...}.
std::string extreme_tile(const RunFiles& files, const char* label, const char* name) {
  const std::optional<double> value = number_at(files.result, {"sample", name, "value"});
  if (!value) return {};
  return tile_html(
      label, data_html(fmt::format("sample.{}.value", name), *value, fmt::format("{:.5g}", *value)),
      html(text_at(files.result, {"sample", name, "name"}).value_or("")));
}

std::string sample_tiles(const RunFiles& files) {
  const auto chains = number_at(files.result, {"sample", "chains"});
  const auto draws = number_at(files.result, {"sample", "draws"});
  if (!chains || !draws) return {};
  std::string text = tile_html("chains x draws", fmt::format("{:.0f} x {:.0f}", *chains, *draws));
  text += extreme_tile(files, "largest R-hat", "r_hat_max");
  text += extreme_tile(files, "largest nested R-hat", "nested_r_hat_max");
  text += extreme_tile(files, "least bulk ESS", "ess_bulk_min");
  text += extreme_tile(files, "least tail ESS", "ess_tail_min");
  return text + number_tile(files, "divergences", "sample", "divergences");
}

std::string work_tiles(const RunFiles& files) {
  const std::string step = step_of(files);
  std::string text = number_tile(files, steps_of(files).c_str(), "work", "sweeps");
  const auto attempts = number_at(files.result, {"work", "attempts"});
  // A sampler has told its chains, and moves all coordinates at once.
  if (!member_at(files.result, {"sample"}).is_object()) {
    text += number_tile(files, "replicas", "work", "replicas");
    if (attempts && *attempts > 0) {
      text += tile_html("attempted moves",
                        data_html("work.attempts", *attempts, human_count(*attempts)));
    }
  }
  if (const auto seed = member_at(files.run, {"seed"}); seed.is_number()) {
    text += tile_html("seed", html(exact(seed)));
  }
  if (const auto device = text_at(files.run, {"device", "name"})) {
    text += tile_html("device", html(*device),
                      html(text_at(files.run, {"device", "description"}).value_or("")));
  }
  return text;
}

std::string advice_list(const RunFiles& files) {
  std::string items;
  const Json& advice = member_at(files.result, {"advice"});
  for (std::size_t i = 0; advice.is_array() && i < std::min<std::size_t>(advice.size(), 20); ++i) {
    if (advice[i].is_string()) {
      items += fmt::format("<li>{}</li>\n", html(advice[i].get<std::string>()));
    }
  }
  for (const Json& event : files.events) {
    if (text_at(event, {"event"}) != "alert") continue;
    items += fmt::format("<li><span class=\"bad\">{}</span> {} {}</li>\n",
                         html(text_at(event, {"code"}).value_or("alert")),
                         html(text_at(event, {"message"}).value_or("")),
                         html(text_at(event, {"fix"}).value_or("")));
  }
  return items.empty() ? items : "<ul class=\"advice\">\n" + items + "</ul>\n";
}

/// A word of the recorded command; one that is no UTF-8 as the file spells it.
std::string word_of(const Json& word) {
  const std::string text =
      word.is_string() ? word.get<std::string>() : text_at(word, {"escaped"}).value_or("?");
  return shell_word(text);
}

}  // namespace

std::string step_of(const RunFiles& files) {
  return text_at(files.result, {"schedule", "step"}).value_or("sweep");
}

std::string steps_of(const RunFiles& files) {
  const std::string step = step_of(files);
  return step + (step.ends_with("ch") ? "es" : "s");
}

bool is_maximized(const RunFiles& files) {
  const auto sense = text_at(files.result, {"objective", "sense"});
  return sense.value_or(text_at(files.run, {"problem", "objective", "sense"}).value_or("")) ==
         "maximize";
}

std::string value_name_of(const RunFiles& files) {
  const auto name = text_at(files.result, {"objective", "name"});
  return name.value_or(text_at(files.run, {"problem", "objective", "name"}).value_or("value"));
}

TracedValue traced_value_of(const RunFiles& files) {
  TracedValue traced{value_name_of(files), is_maximized(files)};
  if (const auto name = text_at(files.run, {"problem", "objective", "name"})) {
    traced.of_result = *name == traced.name;
    traced.name = *name;
  }
  if (const auto sense = text_at(files.run, {"problem", "objective", "sense"})) {
    traced.maximized = *sense == "maximize";
  }
  return traced;
}

double run_seconds(const RunFiles& files) {
  double seconds = number_at(files.result, {"time", "run_s"}).value_or(0);
  if (!files.trace.empty()) seconds = std::max(seconds, files.trace.back().time_s);
  return seconds;
}

std::string repeat_command(const RunFiles& files) {
  const Json& command = member_at(files.run, {"command"});
  const bool samples = command.is_array() && command.size() > 1 && command[1] == "sample";
  return fmt::format("kiln {} --repeat {} -o NEW", samples ? "sample" : "solve",
                     shell_word(files.folder));
}

std::string subtitle_html(const RunFiles& files) {
  const Json& schedule = member_at(files.run, {"schedule"});
  return html(fmt::format("{} on {}, seed {}, Kiln {}", text_at(schedule, {"name"}).value_or("?"),
                          text_at(files.run, {"device", "name"}).value_or("?"),
                          exact(member_at(files.run, {"seed"})),
                          text_at(files.run, {"kiln"}).value_or("?")));
}

std::string headline_html(const RunFiles& files) {
  const std::string samples = sample_tiles(files);
  std::string tiles = samples.empty() ? best_tile(files) + gap_tile(files) : samples;
  if (samples.empty()) tiles += seconds_tile(files, "time to best", "to_best_s");
  if (tiles.starts_with("<div class=\"tile\"")) tiles.replace(12, 4, "tile first");
  tiles += number_tile(files, "primal integral", "incumbents", "primal_integral");
  tiles += seconds_tile(files, "run time", "run_s") + seconds_tile(files, "set-up", "setup_s");
  tiles += stop_tile(files) + work_tiles(files);
  return "<div class=\"tiles\">\n" + tiles + "</div>\n" + advice_list(files);
}

std::string environment_html(const RunFiles& files) {
  std::string original;
  const Json& command = member_at(files.run, {"command"});
  for (std::size_t i = 0; command.is_array() && i < command.size(); ++i) {
    original += (i == 0 ? "" : " ") + word_of(command[i]);
  }
  std::string text = fmt::format("<pre>{}</pre>\n", html(repeat_command(files)));
  if (!original.empty()) {
    text += fmt::format("<p class=\"note\">The command that made the run:</p>\n<pre>{}</pre>\n",
                        html(original));
  }
  if (files.result.contains("continued")) {
    text +=
        "<p class=\"note\">kiln resume gave the run other limits. A repeat is planned for the "
        "first limits, as the run was, and ends after the same number of steps.</p>\n";
  } else if (text_at(files.result, {"stop"}) == "time_limit") {
    text +=
        "<p class=\"note\">A limit of time ended the run. A repeat takes the same steps in the "
        "same order, and may end after another number of them.</p>\n";
  }
  std::vector<std::vector<std::string>> rows{{"environment", ""}};
  const auto row = [&](const char* label, const std::vector<const char*>& path) {
    if (const auto found = text_at(files.run, path)) rows.push_back({label, html(*found)});
  };
  row("Kiln", {"kiln"});
  row("device", {"device", "name"});
  row("device details", {"device", "description"});
  row("GPU not used because", {"device", "fallback_reason"});
  row("problem", {"problem", "name"});
  row("source", {"problem", "source"});
  row("fingerprint", {"problem", "fingerprint"});
  row("random draws", {"draws"});
  const Json& sizes = member_at(files.run, {"problem", "sizes"});
  for (const auto& [name, value] : sizes.items()) {
    if (value.is_string()) rows.push_back({html(name), html(value.get<std::string>())});
  }
  return text + table_html(rows, 2);
}

std::string notes_html(const RunFiles& files) {
  std::string items;
  for (const std::string& note : files.notes) items += fmt::format("<li>{}</li>\n", html(note));
  return items.empty() ? items : "<ul class=\"advice\">\n" + items + "</ul>\n";
}

}  // namespace kiln::cli
