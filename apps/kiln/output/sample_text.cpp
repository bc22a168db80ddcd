// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/sample_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using SortedJson = nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

// More than fill a screen; of the others the worst are named below the table.
constexpr std::size_t max_rows = 40, shown_rows = 20;

std::string significant(const SortedJson& value) {
  return value.is_null() ? "-" : fmt::format("{:.4g}", value.get<double>());
}

// Of an error the size is what counts.
std::string two_digits(const SortedJson& value) {
  return value.is_null() ? "-" : fmt::format("{:.2g}", value.get<double>());
}

std::string with_decimals(const SortedJson& value, int decimals) {
  return value.is_null() ? "-" : fmt::format("{:.{}f}", value.get<double>(), decimals);
}

std::string count_of(const SortedJson& value) {
  return value.is_null() ? "-" : human_count(value.get<double>());
}

// With fewer kept chains than super-chains there is no nested R-hat.
bool has_groups(const SortedJson& sample) {
  const auto groups = sample.at("super_chains").get<std::int64_t>();
  return groups > 0 && sample.at("chains").get<std::int64_t>() >= groups;
}

std::vector<std::string> row_of(const SortedJson& q, bool groups) {
  std::vector<std::string> row{clean(q.at("name").get<std::string>()),
                               significant(q.at("mean")),
                               two_digits(q.at("mcse_mean")),
                               significant(q.at("sd")),
                               significant(q.at("q05")),
                               significant(q.at("q50")),
                               significant(q.at("q95")),
                               with_decimals(q.at("ess_bulk"), 0),
                               with_decimals(q.at("ess_tail"), 0),
                               with_decimals(q.at("r_hat"), 3)};
  if (groups) row.push_back(with_decimals(q.at("nested_r_hat"), 3));
  return row;
}

// The columns from `first` up to `end`, after that of the names.
Rows part_of(const Rows& rows, std::size_t first, std::size_t end) {
  Rows part;
  for (const auto& row : rows) {
    part.push_back({row.front()});
    for (std::size_t i = first; i < end; ++i) part.back().push_back(row[i]);
  }
  return part;
}

// One table if it fits, else what the draws say above how good they are.
std::string fitted_table(const Rows& rows, std::size_t columns) {
  constexpr std::size_t first_of_quality = 7;
  for (const std::size_t blanks : {2, 1}) {
    std::string text = spaced_table(rows, 1, blanks);
    if (text.find('\n') <= columns) return text;
  }
  std::string text;
  for (const Rows& part :
       {part_of(rows, 1, first_of_quality), part_of(rows, first_of_quality, rows.front().size())}) {
    std::string table = spaced_table(part, 1, 2);
    if (table.find('\n') > columns) table = spaced_table(part, 1, 1);
    text += (text.empty() ? "" : "\n") + table;
  }
  return text;
}

std::string quantities_table(const SortedJson& result, bool whole, std::size_t columns) {
  const SortedJson& quantities = result.at("summary");
  const bool cut = !whole && quantities.size() > max_rows;
  const std::size_t shown = cut ? shown_rows : quantities.size();
  Rows rows{
      {"quantity", "mean", "mcse", "sd", "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat"}};
  const bool groups = has_groups(result.at("sample"));
  if (groups) rows.front().push_back("nested");
  rows.push_back(row_of(result.at("sample").at("log_density"), groups));
  for (std::size_t i = 0; i < shown; ++i) rows.push_back(row_of(quantities[i], groups));
  std::string text = fitted_table(rows, columns);
  if (cut) {
    text +=
        fmt::format("... and {} more quantities: --verbose shows all, and summary.csv lists all\n",
                    quantities.size() - shown);
  }
  return text;
}

// "1.004 (tau)"
std::string extreme_of(const SortedJson& extreme, std::string (*show)(const SortedJson&)) {
  if (extreme.is_null()) return "not known";
  // A number that is known to be extreme and is no number is infinite.
  const SortedJson& value = extreme.at("value");
  return fmt::format("{} ({})", value.is_null() ? "infinite" : show(value),
                     clean(extreme.at("name").get<std::string>()));
}

std::string whole_number(const SortedJson& value) { return with_decimals(value, 0); }
std::string three_decimals(const SortedJson& value) { return with_decimals(value, 3); }

std::string effective_text(const SortedJson& sample) {
  const auto kept = sample.at("chains").get<std::int64_t>();
  const auto all = sample.at("all_chains").get<std::int64_t>();
  std::string text =
      fmt::format("effective    bulk ESS >= {}, tail ESS >= {}, of the {}{} chain{}\n",
                  extreme_of(sample.at("ess_bulk_min"), whole_number),
                  extreme_of(sample.at("ess_tail_min"), whole_number), kept < all ? "kept " : "",
                  kept, kept == 1 ? "" : "s");
  const SortedJson& of_all = sample.at("ess_all_chains");
  if (!of_all.is_null()) {
    text += fmt::format("{:13}ESS >= {} of all {} chains, from the scatter of the chain means\n",
                        "", count_of(of_all), all);
  }
  return text;
}

std::string r_hat_text(const SortedJson& sample) {
  std::string text =
      fmt::format("R-hat        {} at most", extreme_of(sample.at("r_hat_max"), three_decimals));
  if (has_groups(sample)) {
    text += fmt::format("; nested R-hat {}, of {} super-chains",
                        extreme_of(sample.at("nested_r_hat_max"), three_decimals),
                        sample.at("super_chains").dump());
  }
  return text + "\n";
}

std::string transitions_text(const SortedJson& sample) {
  std::string text = fmt::format("transitions  divergent {}", sample.at("divergences").dump());
  if (sample.at("max_depth").get<std::int64_t>() > 0) {
    text += fmt::format("   cut off at depth {}: {}", sample.at("max_depth").dump(),
                        sample.at("depth_hits").dump());
  }
  return text + fmt::format("   acceptance {}   leapfrogs {}   step size {}\n",
                            with_decimals(sample.at("acceptance"), 3),
                            significant(sample.at("leapfrogs")),
                            significant(sample.at("step_size")));
}

std::string time_text(const SortedJson& sample) {
  const SortedJson& time = sample.at("time");
  const SortedJson& rates = sample.at("rates");
  const auto seconds = [](const SortedJson& value) {
    return value.is_null() ? "-" : fmt::format("{:.3g} s", value.get<double>());
  };
  std::string text =
      fmt::format("time         warm-up {}   sampling {}   gradients/s {}   effective draws/s {}",
                  seconds(time.at("warmup_s")), seconds(time.at("sampling_s")),
                  count_of(rates.at("gradients_per_s")), count_of(rates.at("ess_bulk_per_s")));
  const SortedJson& of_all = rates.at("ess_all_chains_per_s");
  if (!of_all.is_null()) text += fmt::format(", of all chains {}", count_of(of_all));
  return text + "\n";
}

}  // namespace

std::string draws_text(const SortedJson& sample) {
  const auto number = [&](const char* name) { return sample.at(name).get<std::int64_t>(); };
  std::string text =
      fmt::format("{} chain{} x {} draws after {} warm-up transitions", number("all_chains"),
                  number("all_chains") == 1 ? "" : "s", number("all_draws"), number("warmup"));
  if (number("chains") < number("all_chains")) {
    text += fmt::format(", draws of only {} chains kept", number("chains"));
  }
  if (number("thin") > 1) text += fmt::format(", one draw in {} kept", number("thin"));
  return text;
}

std::string until_text(const JudgedConditions& until) {
  if (until.empty()) return {};
  std::vector<std::string> terms;
  for (const JudgedCondition& one : until.all) {
    const bool rhat = one.condition.statistic == DrawStatistic::rhat;
    std::string value = "not known";
    if (!std::isnan(one.value)) value = fmt::format("{:.{}f}", one.value, rhat ? 4 : 0);
    const std::string whose = one.quantity.empty() ? "" : " (" + clean(one.quantity) + ")";
    terms.push_back(fmt::format("{}{} {}{}, wanted {} {}{}", one.nested ? "nested " : "",
                                to_string(one.condition.statistic), value, whose,
                                one.condition.wants_at_least() ? ">=" : "<=", one.condition.bound,
                                one.met ? "" : ": not met"));
  }
  std::string text;
  const char* label = "until";
  for (const std::string& term : terms) {
    text += fmt::format("{:<13}{}\n", std::exchange(label, ""), term);
  }
  return text;
}

std::string sample_text(const SortedJson& result, bool whole, std::size_t columns) {
  const SortedJson& sample = result.at("sample");
  const SortedJson& energy = sample.at("e_bfmi");
  return quantities_table(result, whole, columns) + "\n" + effective_text(sample) +
         r_hat_text(sample) +
         fmt::format("E-BFMI       {}, {} in the worst chain\n", with_decimals(energy.at("all"), 2),
                     with_decimals(energy.at("min"), 2)) +
         transitions_text(sample) + time_text(sample);
}

}  // namespace kiln::cli
