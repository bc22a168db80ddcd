// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/vector_functions/routing.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "kiln/objectives/vector_objective.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"

#include "checks.hpp"

namespace kiln::problems {
namespace {

using detail::is_amount;
using detail::require_size;
using detail::require_value;

using Choices = std::span<const std::int32_t>;

bool is_speed(double value) { return value > 0 && std::isfinite(value); }

void check_model(const RoutedModel& model, std::size_t kinds, const std::string& name) {
  const std::string of_model = " of the model '" + model.name + "'";
  require_value(is_amount(model.price_in) && is_amount(model.price_out), name,
                "a price" + of_model + " is negative or not a finite number");
  require_value(is_amount(model.first_token) && is_speed(model.tokens_per_s), name,
                "first_token or tokens_per_s" + of_model + " is out of range",
                "first_token at least 0 and tokens_per_s above 0");
  const std::size_t qualities = model.quality.size();
  require_size(qualities == kinds, name,
               (qualities == 1 ? std::string("there is 1 quality")
                               : "there are " + std::to_string(qualities) + " qualities") +
                   of_model,
               std::to_string(kinds) + ": one quality for each kind of queries");
  require_value(std::ranges::all_of(model.quality, is_amount), name,
                "a quality" + of_model + " is negative or not a finite number");
}

void check_queries(const RoutedQueries& queries, std::size_t kinds, const std::string& name) {
  const std::string of_queries = " of the queries '" + queries.name + "'";
  require_value(queries.count >= 1 && queries.count <= max_routed_queries, name,
                "the count" + of_queries + " is " + std::to_string(queries.count),
                "1 .. " + std::to_string(max_routed_queries));
  require_value(is_amount(queries.tokens_in) && is_amount(queries.tokens_out), name,
                "the number of tokens" + of_queries + " is negative or not a finite number");
  require_value(queries.kind >= 0 && static_cast<std::size_t>(queries.kind) < kinds, name,
                "the kind" + of_queries + " does not exist");
}

void check(const RoutingTable& table, const std::string& name) {
  require_size(!table.kinds.empty(), name, "there are no kinds of queries");
  require_size(!table.models.empty(), name, "there is no model");
  require_size(!table.queries.empty(), name, "there are no queries");
  const auto most = static_cast<std::size_t>(max_table_cells);
  require_size(
      table.models.size() <= most / table.queries.size(), name,
      std::to_string(table.queries.size()) + " rows of queries and " +
          std::to_string(table.models.size()) + " models are too many",
      "at most " + std::to_string(max_table_cells) + " pairs of a row of queries and a model");
  for (const RoutedModel& model : table.models) check_model(model, table.kinds.size(), name);
  for (const RoutedQueries& row : table.queries) check_queries(row, table.kinds.size(), name);
  require_value(is_amount(table.budget) && is_amount(table.latency_limit), name,
                "the budget or the latency limit is negative or not a finite number",
                "0 for no limit");
}

/// What each pair of a row of queries and a model adds to the sums.
class Terms {
 public:
  explicit Terms(const RoutingTable& table) : table_(table) {
    for (const RoutedQueries& row : table.queries) total_ += static_cast<double>(row.count);
  }

  double cost(const RoutedQueries& row, const RoutedModel& model) const {
    const double one = (row.tokens_in * model.price_in + row.tokens_out * model.price_out) / 1e6;
    return static_cast<double>(row.count) * one;
  }
  double latency(const RoutedQueries& row, const RoutedModel& model) const {
    return share(row) * seconds(row, model);
  }
  double quality(const RoutedQueries& row, const RoutedModel& model) const {
    return share(row) * model.quality[static_cast<std::size_t>(row.kind)];
  }
  double lateness(const RoutedQueries& row, const RoutedModel& model) const {
    return std::max(seconds(row, model) / table_.latency_limit - 1, 0.0);
  }

 private:
  double share(const RoutedQueries& row) const { return static_cast<double>(row.count) / total_; }
  static double seconds(const RoutedQueries& row, const RoutedModel& model) {
    return model.first_token + row.tokens_out / model.tokens_per_s;
  }

  const RoutingTable& table_;
  double total_ = 0;  ///< queries
};

/// A term of all pairs, [queries][models].
std::vector<double> table_of(const RoutingTable& table,
                             double (Terms::*term)(const RoutedQueries&, const RoutedModel&)
                                 const) {
  const Terms terms(table);
  std::vector<double> values;
  values.reserve(table.queries.size() * table.models.size());
  for (const RoutedQueries& row : table.queries) {
    for (const RoutedModel& model : table.models) values.push_back((terms.*term)(row, model));
  }
  return values;
}

/// The sums of all states have to be finite, also in a unit.
void require_finite_sums(const std::vector<double>& values, std::size_t models, double unit,
                         const std::string& name) {
  double most = 0;
  for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(models)) {
    most += *std::max_element(row, row + static_cast<std::ptrdiff_t>(models));
  }
  require_value(
      std::isfinite(most) && std::isfinite(most / unit), name,
      "the sum of the costs, latencies or qualities, or cost / budget, overflows a double");
}

std::shared_ptr<const VectorFunctionSource> source_of(const RoutingTable& table,
                                                      const std::string& name) {
  Routing function;
  function.queries = static_cast<std::int32_t>(table.queries.size());
  function.models = static_cast<std::int32_t>(table.models.size());
  function.budget = table.budget;
  function.limited = table.latency_limit > 0 ? 1 : 0;
  auto source = std::make_shared<CatalogVectorFunctionSource<Routing>>(function);
  const auto add = [&](auto member, auto term, double unit) {
    std::vector<double> values = table_of(table, term);
    require_finite_sums(values, table.models.size(), unit, name);
    source->array(member, std::move(values));
  };
  add(&Routing::cost, &Terms::cost, table.budget > 0 ? table.budget : 1.0);
  add(&Routing::latency, &Terms::latency, 1);
  add(&Routing::quality, &Terms::quality, 1);
  if (function.limited != 0) add(&Routing::lateness, &Terms::lateness, 1);
  return source;
}

ObjectiveVector evaluate(const RoutingTable& table, StateSpan state) {
  const Choices choices = std::get<Choices>(state.front());
  const Terms terms(table);
  double cost = 0, latency = 0, quality = 0, late = 0;
  for (std::size_t i = 0; i < table.queries.size(); ++i) {
    const RoutedQueries& row = table.queries[i];
    const RoutedModel& model = table.models[static_cast<std::size_t>(choices[i])];
    cost += terms.cost(row, model);
    latency += terms.latency(row, model);
    quality += terms.quality(row, model);
    if (table.latency_limit > 0) late += terms.lateness(row, model);
  }
  const double over = table.budget > 0 ? std::max(cost / table.budget - 1, 0.0) : 0.0;
  return {{cost, latency, 0.0 - quality}, over + late};
}

Objectives objectives_of(const std::shared_ptr<const RoutingTable>& table) {
  Objectives objectives;
  objectives.names = {"cost", "latency", "quality"};
  objectives.maximized = {false, false, true};
  objectives.constrained = table->budget > 0 || table->latency_limit > 0;
  objectives.evaluate = [table](StateSpan state) { return evaluate(*table, state); };
  return objectives;
}

std::string format_choices(const RoutingTable& table, StateSpan state) {
  const Choices choices = std::get<Choices>(state.front());
  std::string text;
  for (std::size_t i = 0; i < table.queries.size(); ++i) {
    const RoutedModel& model = table.models[static_cast<std::size_t>(choices[i])];
    text += table.queries[i].name + "," + model.name + "\n";
  }
  return text;
}

}  // namespace

Problem routing(RoutingTable table, std::string name) {
  check(table, name);
  const auto raw = std::make_shared<const RoutingTable>(std::move(table));
  const Space space = Space::categories(static_cast<std::int64_t>(raw->queries.size()),
                                        static_cast<std::int32_t>(raw->models.size()));
  auto objective = make_vector_objective(name, space, source_of(*raw, name));
  Problem problem = make_multi_objective_problem(std::move(name), "route", std::move(objective),
                                                 objectives_of(raw));
  problem.identity.sizes.insert(problem.identity.sizes.begin(),
                                {{"queries", std::to_string(raw->queries.size())},
                                 {"models", std::to_string(raw->models.size())}});
  problem.solution.format = [raw](StateSpan state) { return format_choices(*raw, state); };
  return problem;
}

}  // namespace kiln::problems
