// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Which language model should answer which queries: the cheapest, the fastest and the best choice,
// and the compromise where one more step in any direction costs most.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <kiln/kiln.hpp>
#include <kiln/problems/multi_objective_discrete.hpp>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Choice {
  const char* what;
  const kiln::FrontMember* member;
};

// Of the front's three objectives: cost, mean latency and quality, which is maximised.
void print_values(const kiln::Front& front, const std::vector<Choice>& choices) {
  std::printf("%-10s %9s %12s %9s\n", "", "cost", "latency", "quality");
  for (const Choice& choice : choices) {
    const std::vector<double>& values = choice.member->values;
    std::printf("%-10s %9.3f %10.3f s %9.4f\n", choice.what, front.shown(0, values[0]),
                front.shown(1, values[1]), front.shown(2, values[2]));
  }
}

void print_row(const std::string& name, const std::vector<std::string>& cells) {
  std::printf("%-20s", name.c_str());
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) std::printf(" %-10s", cells[i].c_str());
  std::printf(" %s\n", cells.back().c_str());
}

void print_models(const kiln::RoutingTable& table, const std::vector<Choice>& choices) {
  std::vector<std::string> cells;
  for (const Choice& choice : choices) cells.emplace_back(choice.what);
  std::printf("\n");
  print_row("queries", cells);
  for (std::size_t row = 0; row < table.queries.size(); ++row) {
    cells.clear();
    for (const Choice& choice : choices) {
      const auto& models = std::get<std::vector<std::int32_t>>(choice.member->state[0]);
      cells.push_back(table.models[static_cast<std::size_t>(models[row])].name);
    }
    print_row(table.queries[row].name, cells);
  }
}

struct Values {
  double cost = 0, latency = 0, quality = 0;
};

// The best of each objective by itself. Without a budget every row can be chosen alone.
Values best_of_each(const kiln::RoutingTable& table) {
  Values sum;
  double queries = 0;
  for (const kiln::RoutedQueries& row : table.queries) {
    const auto count = static_cast<double>(row.count);
    double cost = infinity, latency = infinity, quality = 0;
    for (const kiln::RoutedModel& model : table.models) {
      const double seconds = model.first_token + row.tokens_out / model.tokens_per_s;
      if (seconds > table.latency_limit) continue;
      const double price = row.tokens_in * model.price_in + row.tokens_out * model.price_out;
      cost = std::min(cost, 1e-6 * price);
      latency = std::min(latency, seconds);
      quality = std::max(quality, model.quality[static_cast<std::size_t>(row.kind)]);
    }
    queries += count;
    sum.cost += count * cost;
    sum.latency += count * latency;
    sum.quality += count * quality;
  }
  return {sum.cost, sum.latency / queries, sum.quality / queries};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const char* path = argc > 1 ? argv[1] : "models.csv";
    std::ifstream file(path);
    const kiln::RoutingTable table = kiln::problems::read_routing(file, path);
    const kiln::Problem problem = kiln::problems::routing(table, "routing");

    kiln::EvolutionaryOptions options;
    options.strategy = "moead";  // rows add up, so sums with weights find the corners of the front
    options.decomposition = "weighted-sum";
    options.population = 153;
    kiln::Evolutionary search(options);
    kiln::Engine engine({.seed = 1});
    const kiln::Result result = engine.run(problem, search, {.sweeps = 4000});

    const kiln::Front& front = *result.front;
    const auto extreme = [&](std::size_t k) { return &front.members[front.extremes[k]]; };
    const std::vector<Choice> choices = {{"cheapest", extreme(0)},
                                         {"fastest", extreme(1)},
                                         {"best", extreme(2)},
                                         {"knee", &front.members[front.knee]}};
    print_values(front, choices);
    const Values possible = best_of_each(table);
    std::printf("%-10s %9.3f %10.3f s %9.4f  each by itself\n", "possible", possible.cost,
                possible.latency, possible.quality);
    print_models(table, choices);
    return result.verified ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
