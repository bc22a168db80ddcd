// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/graph.hpp"

namespace kiln {

/// Knapsacks that share one choice of items.
struct KnapsackData {
  std::int64_t items = 0;
  std::vector<double> profit;    ///< [knapsacks][items], not negative
  std::vector<double> weight;    ///< [knapsacks][items], not negative
  std::vector<double> capacity;  ///< [knapsacks], above 0
};

/// A language model: its prices, speed and answer quality.
struct RoutedModel {
  std::string name;
  double price_in = 0;          ///< per million input tokens
  double price_out = 0;         ///< per million output tokens
  double first_token = 0;       ///< seconds until the first token
  double tokens_per_s = 1;      ///< output tokens per second after the first
  std::vector<double> quality;  ///< [kinds] of queries; any scale common to all models
};

/// Similar queries that go to the same model.
struct RoutedQueries {
  std::string name;
  std::int64_t count = 1;  ///< number of queries
  double tokens_in = 0;    ///< input tokens of one query
  double tokens_out = 0;   ///< tokens of the answer to one query
  std::int32_t kind = 0;   ///< index into the kinds of the table
};

/// Models and queries of a routing problem. Prices and the budget are in one currency.
struct RoutingTable {
  std::vector<std::string> kinds;  ///< of queries: "easy", "hard"
  std::vector<RoutedModel> models;
  std::vector<RoutedQueries> queries;
  double budget = 0;         ///< for all queries together; 0: no budget
  double latency_limit = 0;  ///< seconds for each answer; 0: no limit
};

namespace problems {

/// Maximum number of cells in a table of knapsacks or of routing: 128 MiB each.
inline constexpr std::int64_t max_table_cells = std::int64_t{1} << 24;
/// Maximum number of queries in one row of a routing table.
inline constexpr std::int64_t max_routed_queries = 1'000'000'000'000;

/// Makes the problem of packing several knapsacks with the same items: a bit per item, an objective
/// `profit K` per knapsack, maximised, and the constraints that no load exceeds its capacity. The
/// violation of a state is the sum of the excess loads, each relative to its capacity.
///
/// @throws InvalidArgument `problem.size` if there are no items, knapsacks are not 2 ..
///   max_objectives, there are more than max_table_cells profits, or the arrays have other sizes;
///   `problem.value` if a number is not finite or outside its range, or a sum of them not finite.
KILN_API Problem knapsack(KnapsackData data, std::string name);

/// Makes a random instance: profits and weights are whole numbers, uniform in 10 .. 100, and a
/// capacity is half of the weight of all items. A prefix of the items of a larger instance is not
/// the smaller one. The published instances were drawn in the same way, but by another generator.
///
/// @param items  at least 1
/// @param objectives  knapsacks, 2 .. max_objectives
/// @param seed  all 64 bits of it count.
/// @throws InvalidArgument `problem.size`, as above.
/// @par Source  Zitzler, Thiele, IEEE Transactions on Evolutionary Computation 3 (1999) 257.
KILN_API Problem knapsack(std::int64_t items, int objectives, std::uint64_t seed);

/// Makes Max-Cut with two objectives: a spin per vertex, and the objectives `cut 1` and `cut 2`,
/// both maximised, of the same partition in two graphs. An edge that one graph lacks has weight 0
/// there.
///
/// @throws InvalidArgument `problem.size` if the graphs have no vertices or not as many as each
///   other, or together more than max_generated_edges edges; `problem.value` if the sum of the
///   absolute weights is not finite; and as canonicalize().
KILN_API Problem cut_pair(Graph first, Graph second, std::string name);

/// Makes an instance with the edges of random_graph(n, density_percent, seed), each with two
/// independent weights: whole numbers, uniform in -100 .. 100.
///
/// @param n  vertices
/// @param density_percent  0 to 100.
/// @param seed  only its value modulo 2^31 counts for the edges, all of it for the weights.
/// @throws InvalidArgument as random_graph().
KILN_API Problem cut_pair(std::int32_t n, double density_percent, std::int64_t seed);

/// Makes the assignment of queries to models: a category per row of queries, the index of its
/// model.
/// Objectives:
/// - `cost`: the total cost of all queries;
/// - `latency`: seconds from a query to the last token of its answer, the mean over all queries;
/// - `quality`: of the model for the kind of query, the mean over all queries, maximised.
/// Constraints, if the table has them: the budget, violated by the relative excess, and the limit
/// for the latency of each answer, violated by the sum of the relative excesses over the rows.
///
/// Solutions are lines `QUERIES,MODEL` of names.
///
/// @throws InvalidArgument `problem.size` if there are no kinds, models or queries, or more than
///   max_table_cells pairs of a model and queries; `problem.value` if a number is not finite or
///   outside its range, a kind does not exist, or a sum is not finite.
KILN_API Problem routing(RoutingTable table, std::string name);

/// Reads a routing table; docs/formats.md has the format.
///
/// @param in  the text
/// @param file_name  for messages.
/// @return a table with at least one kind, model and row of queries, and only valid numbers.
/// @throws ParseError with up to five issues and their total; IoError `io.read` if the stream
/// fails.
KILN_API RoutingTable read_routing(std::istream& in, const std::string& file_name);

}  // namespace problems
}  // namespace kiln
