// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "discrete.hpp"

#include <fstream>

#include "kiln/errors.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"
#include "kiln/problems/unpacked.hpp"

#include "family_parameters.hpp"

namespace kiln::problems {
namespace {

using detail::Family;
using detail::ParameterReader;

// For what the reader of parameters says; these families make no pairwise model.
constexpr Family knapsack_family{
    "knapsack", "N,M,SEED", "a number of items, a number of knapsacks and a seed",
    {},         "250,2,1",  {},
    nullptr,    nullptr,    nullptr};
constexpr Family cut_pair_family{
    "cutpair", "N,DENSITY,SEED", "a number of vertices, a density in per cent and a seed",
    {},        "100,10,1",       {},
    nullptr,   nullptr,          nullptr};

}  // namespace

Problem knapsack_by_name(const std::string& text) {
  ParameterReader reader(knapsack_family, text);
  const std::int32_t items = reader.size();
  reader.expect(',');
  const std::int32_t knapsacks = reader.size();
  reader.expect(',');
  const std::int64_t seed = reader.seed();
  reader.finish();
  return knapsack(items, knapsacks, static_cast<std::uint64_t>(seed));
}

Problem cut_pair_by_name(const std::string& text) {
  ParameterReader reader(cut_pair_family, text);
  const std::int32_t n = reader.size();
  reader.expect(',');
  const double density_percent = reader.real() + 0.0;  // turns -0 into 0
  reader.expect(',');
  const std::int64_t seed = reader.seed();
  reader.finish();
  return cut_pair(n, density_percent, seed);
}

Problem routing_by_name(const std::string& text) {
  if (text.empty()) {
    throw InvalidArgument("problem.parameters", "'route:' does not have the form route:FILE",
                          "a file with prices, speeds and qualities of models, and with queries",
                          "kiln solve route:models.csv");
  }
  std::ifstream file(text, std::ios::binary);
  UnpackedStream unpacked(file, text);
  return routing(read_routing(unpacked, text), "route:" + text);
}

}  // namespace kiln::problems
