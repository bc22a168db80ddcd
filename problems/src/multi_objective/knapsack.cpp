// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/vector_functions/knapsack.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "kiln/objectives/vector_objective.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"

#include "checks.hpp"

namespace kiln::problems {
namespace {

using detail::require_size;
using detail::require_value;

using Bits = std::span<const std::int8_t>;

void check_sizes(std::int64_t items, std::int64_t knapsacks, const std::string& name) {
  require_size(items >= 1, name, "there are no items");
  require_size(knapsacks >= 2 && knapsacks <= max_objectives, name,
               knapsacks == 1 ? "there is 1 knapsack"
                              : "there are " + std::to_string(knapsacks) + " knapsacks",
               "2 .. " + std::to_string(max_objectives));
  require_size(items <= max_table_cells / knapsacks, name,
               std::to_string(items) + " items in " + std::to_string(knapsacks) +
                   " knapsacks need more than " + std::to_string(max_table_cells) +
                   " profit values");
}

void check_amounts(const std::vector<double>& values, const std::string& what,
                   const std::string& name) {
  require_value(std::ranges::all_of(values, detail::is_amount), name,
                "a " + what + " is negative or not a finite number");
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  require_value(std::isfinite(total), name, "the sum of the " + what + "s overflows a double");
}

void check(const KnapsackData& data, const std::string& name) {
  const std::size_t knapsacks = data.capacity.size();
  check_sizes(data.items, static_cast<std::int64_t>(knapsacks), name);
  const std::size_t cells = knapsacks * static_cast<std::size_t>(data.items);
  require_size(
      data.profit.size() == cells && data.weight.size() == cells, name,
      "there are " + std::to_string(data.profit.size()) + " profits and " +
          std::to_string(data.weight.size()) + " weights",
      std::to_string(cells) + " profits and as many weights: one for each knapsack and item");
  check_amounts(data.profit, "profit", name);
  check_amounts(data.weight, "weight", name);
  const auto usable = [](double capacity) { return capacity > 0 && std::isfinite(capacity); };
  require_value(std::ranges::all_of(data.capacity, usable), name,
                "a capacity is not a finite number above 0");
}

/// The sum over one knapsack of the values of the items that are packed.
double packed(const std::vector<double>& values, std::size_t knapsack, Bits bits) {
  const std::size_t begin = knapsack * bits.size();
  double sum = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) sum += bits[i] != 0 ? values[begin + i] : 0.0;
  return sum;
}

ObjectiveVector evaluate(const KnapsackData& data, StateSpan state) {
  const Bits bits = std::get<Bits>(state.front());
  ObjectiveVector result;
  for (std::size_t k = 0; k < data.capacity.size(); ++k) {
    result.values.push_back(0.0 - packed(data.profit, k, bits));
    result.violation += std::max(packed(data.weight, k, bits) / data.capacity[k] - 1, 0.0);
  }
  return result;
}

Objectives objectives_of(const std::shared_ptr<const KnapsackData>& data) {
  Objectives objectives;
  for (std::size_t k = 0; k < data->capacity.size(); ++k) {
    objectives.names.push_back("profit " + std::to_string(k + 1));
    objectives.maximized.push_back(true);
  }
  objectives.constrained = true;
  objectives.evaluate = [data](StateSpan state) { return evaluate(*data, state); };
  return objectives;
}

std::string format_bits(StateSpan state) {
  std::string text;  // 1 for each item that is packed, else 0
  for (const std::int8_t bit : std::get<Bits>(state.front())) text += bit != 0 ? "1\n" : "0\n";
  return text;
}

}  // namespace

Problem knapsack(KnapsackData data, std::string name) {
  check(data, name);
  const auto raw = std::make_shared<const KnapsackData>(std::move(data));
  Knapsack function;
  function.items = static_cast<std::int32_t>(raw->items);
  function.knapsacks = static_cast<std::int32_t>(raw->capacity.size());
  auto source = std::make_shared<CatalogVectorFunctionSource<Knapsack>>(function);
  source->array(&Knapsack::profit, raw->profit)
      .array(&Knapsack::weight, raw->weight)
      .array(&Knapsack::capacity, raw->capacity);
  auto objective = make_vector_objective(name, Space::binary(raw->items), std::move(source));
  Problem problem = make_multi_objective_problem(std::move(name), "knapsack", std::move(objective),
                                                 objectives_of(raw));
  problem.solution.format = format_bits;
  return problem;
}

Problem knapsack(std::int64_t items, int objectives, std::uint64_t seed) {
  const std::string name = "knapsack:" + std::to_string(items) + "," + std::to_string(objectives) +
                           "," + std::to_string(static_cast<std::int64_t>(seed));
  check_sizes(items, objectives, name);
  KnapsackData data;
  data.items = items;
  const std::int64_t cells = items * objectives;
  for (std::int64_t i = 0; i < cells; ++i) {
    data.profit.push_back(detail::draw_whole(seed, 0, i, 10, 100));
    data.weight.push_back(detail::draw_whole(seed, 1, i, 10, 100));
  }
  for (std::int64_t begin = 0; begin < cells; begin += items) {
    const auto first = data.weight.begin() + begin;
    data.capacity.push_back(std::accumulate(first, first + items, 0.0) / 2);
  }
  return knapsack(std::move(data), name);
}

}  // namespace kiln::problems
