// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/kernels/run/track_best.hpp"
#include "kiln/problems/unpacked.hpp"

#include "ascending_rows.hpp"
#include "readers/data_text.hpp"
#include "readers/text_reader.hpp"
#include "settings.hpp"

namespace kiln::problems {
namespace {

using detail::printable;

// Configurations in ascending order.
std::vector<std::size_t> ascending_settings(const ConfigurationTable& table) {
  std::vector<std::size_t> levels;
  for (const auto& input : table.inputs) levels.push_back(input.labels.size());
  return detail::ascending_rows(
      table.values.size(), levels,
      [&](std::size_t row, std::size_t input) { return table.setting(row)[input]; });
}

/// Values by configuration, for calls from several threads.
struct Lookup {
  ConfigurationTable table;
  std::vector<std::size_t> order;  // ascending

  explicit Lookup(ConfigurationTable t) : table(std::move(t)), order(ascending_settings(table)) {}
  static std::vector<std::int32_t> setting_of(StateSpan state) {
    std::vector<std::int32_t> setting;
    for (const BlockSpan& block : state) {
      setting.push_back(std::get<std::span<const std::int32_t>>(block).front());
    }
    return setting;
  }
  double at(StateSpan state) const {
    const std::vector<std::int32_t> setting = setting_of(state);
    const auto found = std::ranges::lower_bound(
        order, setting,
        [](const auto& a, const auto& b) { return std::ranges::lexicographical_compare(a, b); },
        [this](std::size_t i) { return table.setting(i); });
    const bool known = found != order.end() && std::ranges::equal(table.setting(*found), setting);
    return known ? table.values[*found] : std::numeric_limits<double>::quiet_NaN();
  }
  const std::string& label(std::size_t input, std::int32_t level) const {
    return table.inputs[input].labels[static_cast<std::size_t>(level)];
  }
};

Space space_of(const ConfigurationTable& table) {
  std::vector<Block> blocks;
  for (const auto& input : table.inputs) {
    blocks.push_back({BlockKind::category, 1, 0, static_cast<double>(input.labels.size() - 1)});
  }
  return Space(std::move(blocks));
}

VariableModel model_of(const ConfigurationTable::Column& input) {
  VariableModel model{input.name, input.categorical};
  if (input.categorical) {
    model.names = input.labels;
    return model;
  }
  const double least = input.values.front(), width = input.values.back() - least;
  for (const double value : input.values) model.levels.push_back((value - least) / width);
  return model;
}

std::shared_ptr<const std::vector<State>> states_of(const ConfigurationTable& table) {
  auto states = std::make_shared<std::vector<State>>();
  states->reserve(table.values.size());
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    State& state = states->emplace_back();
    state.reserve(table.inputs.size());
    for (const std::int32_t level : table.setting(i)) {
      state.emplace_back(std::vector<std::int32_t>{level});
    }
  }
  return states;
}

void describe(Problem& problem, const std::shared_ptr<const Lookup>& lookup) {
  problem.solution.named_values = [lookup](StateSpan state) {
    std::vector<std::pair<std::string, std::string>> named;
    const std::vector<std::int32_t> setting = Lookup::setting_of(state);
    for (std::size_t i = 0; i < setting.size(); ++i) {
      named.emplace_back(lookup->table.inputs[i].name, lookup->label(i, setting[i]));
    }
    return named;
  };
  problem.solution.format = [lookup](StateSpan state) {
    std::string text;
    const std::vector<std::int32_t> setting = Lookup::setting_of(state);
    for (std::size_t i = 0; i < setting.size(); ++i) {
      text += std::to_string(setting[i]) + "  # " + lookup->table.inputs[i].name + " = " +
              detail::in_one_line(lookup->label(i, setting[i])) + "\n";
    }
    return text;
  };
}

}  // namespace

std::string table_call(const std::string& file, const std::string& objective) {
  return "kiln solve " + shell_word("table:" + file) + " --objective " + shell_word(objective);
}

Problem make_table_problem(ConfigurationTable table, std::string name) {
  constexpr std::size_t most = TrackBest::max_blocks;
  if (table.inputs.size() > most) {
    throw InvalidArgument(
        "table.columns",
        "'" + printable(name) + "' has " + std::to_string(table.inputs.size()) + " inputs",
        "at most " + std::to_string(most), "leave out some inputs: --ignore A,B");
  }
  const auto lookup = std::make_shared<const Lookup>(std::move(table));
  const ConfigurationTable& known = lookup->table;
  const double sign = known.sense == Sense::maximize ? -1 : 1;
  Problem problem = make_problem(make_host_objective(
      name, space_of(known), [lookup, sign](StateSpan state) { return sign * lookup->at(state); }));
  problem.identity.name = std::move(name);
  problem.identity.family = "table";
  problem.units.sense = known.sense;
  problem.start.schedule = "bayesian-optimization";
  problem.units.objective_of_stored = {0, sign};
  const auto [least, greatest] = std::ranges::minmax_element(known.values);
  problem.known.best = known.sense == Sense::maximize ? *greatest : *least;
  problem.known.best_source = "the best row of the table";
  problem.identity.sizes = {{"inputs", std::to_string(known.inputs.size())},
                            {"rows", std::to_string(known.rows)},
                            {"distinct", std::to_string(known.values.size())}};
  problem.solution.verify = [lookup](StateSpan state) { return lookup->at(state); };
  problem.identity.notes = known.notes;
  for (const auto& input : known.inputs) problem.coordinates.push_back(model_of(input));
  problem.experiment.emplace().candidates = states_of(known);
  describe(problem, lookup);
  return problem;
}

Problem table_by_name(const std::string& file, const ProblemSettings& settings) {
  if (file.empty()) {
    throw InvalidArgument("problem.parameters", "'table:' does not have the form table:FILE",
                          "a table file whose first line has the names of the columns",
                          "kiln solve table:reactions.csv --objective yield");
  }
  TableOptions options;
  options.target = detail::setting_or(settings, "objective", "");
  options.sense = detail::sense_of(settings, Sense::maximize);
  options.categorical = detail::list_of(settings, "categorical");
  options.ignore = detail::list_of(settings, "ignore");
  std::error_code ignored;  // folders open like files, and only reading fails
  if (std::filesystem::is_directory(file, ignored)) {
    throw IoError("io.open", printable(file) + " is a folder, not a table", {},
                  "give the path of a table file: " + printable(file) + "/NAME.csv");
  }
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    throw IoError("io.open", "cannot open the table " + printable(file) + ": " + reason, {},
                  "check the path, relative to the current folder");
  }
  UnpackedStream unpacked(in, file);
  Problem problem = make_table_problem(read_table(unpacked, file, options), "table:" + file);
  problem.units.value_name = options.target;
  if (!settings.contains("sense")) {
    problem.identity.notes.push_back("'" + printable(options.target) +
                                     "' is maximised by default; --minimize minimises it");
  }
  // A second measurement would tell the first: whoever has one must see it here.
  std::string inputs;
  for (const VariableModel& one : problem.coordinates) {
    inputs += (inputs.empty() ? "" : ", ") + printable(one.name);
  }
  problem.identity.notes.push_back("the inputs are " + inputs +
                                   "; --ignore leaves out columns that are not inputs");
  return problem;
}

}  // namespace kiln::problems
