// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "kiln/information/estimate_information.hpp"

#include "analysis/run/ranks.hpp"

namespace kiln::cli {
namespace {

constexpr std::int32_t input_neighbors = 6;
constexpr std::size_t max_inputs = 4;  // that are found: more conditions have too many dimensions

using Column = std::vector<double>;
using Order = std::vector<std::size_t>;

Order random_order(std::size_t n, std::mt19937_64& random) {
  Order order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // std::shuffle is another one in each standard library.
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

Column in_order(const Column& values, const Order& order) {
  Column ordered;
  ordered.reserve(order.size());
  for (const std::size_t i : order) ordered.push_back(values[i]);
  return ordered;
}

bool is_constant(const Column& values) {
  return std::ranges::all_of(values, [&](double x) { return x == values.front(); });
}

/// The inputs of the estimates, as ranks, and the ranks of the value.
struct Ranked {
  std::vector<Series> inputs;
  Column value;
};

/// What each input says of the value beyond those that were found.
class Step {
 public:
  Step(const Ranked& data, std::vector<std::size_t> found, Backend& backend)
      : data_(data), found_(std::move(found)), backend_(backend) {
    for (std::size_t i = 0; i < data.inputs.size(); ++i) {
      if (std::ranges::find(found_, i) == found_.end()) left_.push_back(i);
    }
  }

  /// The input with the most information.
  std::pair<std::size_t, double> best(const Order& order) const {
    const std::vector<double> values = information(order);
    const auto most = std::ranges::max_element(values);
    return {left_[static_cast<std::size_t>(most - values.begin())], *most};
  }

 private:
  // Value and found inputs are permuted together: that breaks their relation to those left, and
  // neither the one between them nor those between the others.
  std::vector<double> information(const Order& order) const {
    std::vector<Series> columns;
    InformationColumns which;
    for (const std::size_t i : left_) {
      which.sources.push_back(static_cast<std::int32_t>(columns.size()));
      columns.push_back(data_.inputs[i]);
    }
    which.targets.push_back(static_cast<std::int32_t>(columns.size()));
    columns.push_back({"value", in_order(data_.value, order)});
    for (const std::size_t i : found_) {
      which.conditions.push_back(static_cast<std::int32_t>(columns.size()));
      columns.push_back({data_.inputs[i].name, in_order(data_.inputs[i].values, order)});
    }
    InformationOptions options;
    options.measure = found_.empty() ? InformationMeasure::mutual_information
                                     : InformationMeasure::conditional_mutual_information;
    options.k = input_neighbors;
    const InformationMap map = estimate_information(columns, which, options, backend_);
    std::vector<double> values(left_.size());
    for (const InformationLink& link : map.links) {
      values[static_cast<std::size_t>(link.source)] = link.estimate.value;
    }
    return values;
  }

  const Ranked& data_;
  std::vector<std::size_t> found_, left_;
  Backend& backend_;
};

struct Found {
  std::size_t input = 0;
  double information = 0, p_value = 1;
};

Found next_input(const Ranked& data, const std::vector<std::size_t>& found,
                 const RunAnalysisOptions& options, std::mt19937_64& random, Backend& backend) {
  const Step step(data, found, backend);
  Order order(data.value.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto [input, value] = step.best(order);
  double reached = 1;
  for (std::int64_t s = 0; s < options.surrogates; ++s) {
    if (step.best(random_order(order.size(), random)).second >= value) ++reached;
  }
  return {input, std::max(0.0, value), reached / static_cast<double>(options.surrogates + 1)};
}

/// Evaluations with a value, at most `most`, evenly spread.
std::vector<std::size_t> rows_of(const EvaluationRows& evaluations, InputRanking& ranking,
                                 std::int64_t most) {
  std::vector<std::size_t> rows, spread;
  for (std::size_t i = 0; i < evaluations.value.size(); ++i) {
    if (std::isfinite(evaluations.value[i])) rows.push_back(i);
  }
  ranking.rows = static_cast<std::int64_t>(evaluations.value.size());
  ranking.failed = ranking.rows - static_cast<std::int64_t>(rows.size());
  const std::size_t used = std::min(rows.size(), static_cast<std::size_t>(most));
  for (std::size_t i = 0; i < used; ++i) spread.push_back(rows[i * rows.size() / used]);
  ranking.used = static_cast<std::int64_t>(used);
  return spread;
}

Ranked ranked(const EvaluationRows& evaluations, const std::vector<std::size_t>& rows,
              InputRanking& ranking, std::mt19937_64& random) {
  Ranked data;
  data.value = ranks_of(in_order(evaluations.value, rows), random);
  for (std::size_t i = 0; i < evaluations.names.size(); ++i) {
    const Column values = in_order(evaluations.variables[i], rows);
    const std::string& name = evaluations.names[i];
    if (std::ranges::any_of(values, [](double x) { return std::isnan(x); })) {
      ranking.not_numbers.push_back(name);
    } else if (is_constant(values)) {
      ranking.constant.push_back(name);
    } else {
      data.inputs.push_back({name, ranks_of(values, random)});
    }
  }
  ranking.inputs = static_cast<std::int64_t>(data.inputs.size());
  return data;
}

}  // namespace

InputRanking rank_inputs(const EvaluationRows& evaluations, const RunAnalysisOptions& options,
                         Backend& backend) {
  InputRanking ranking;
  std::mt19937_64 random(options.seed);
  const std::vector<std::size_t> rows = rows_of(evaluations, ranking, options.rows);
  if (ranking.used < min_rows) return ranking;
  ranking.value_is_constant = is_constant(in_order(evaluations.value, rows));
  if (ranking.value_is_constant) return ranking;
  const Ranked data = ranked(evaluations, rows, ranking, random);
  std::vector<std::size_t> found;
  while (found.size() < std::min(max_inputs, data.inputs.size())) {
    const Found next = next_input(data, found, options, random, backend);
    const RankedInput input{data.inputs[next.input].name, next.information, next.p_value};
    if (next.p_value > options.significance) {
      ranking.next = input;
      break;
    }
    ranking.matter.push_back(input);
    found.push_back(next.input);
  }
  return ranking;
}

}  // namespace kiln::cli
