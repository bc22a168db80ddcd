// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kiln/errors.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {
namespace {

struct Neighbors {
  std::vector<std::int64_t> begin;  // [n + 1]
  std::vector<std::int32_t> vertex;
  std::vector<double> weight;

  std::int64_t degree(std::int32_t v) const {
    const auto i = static_cast<std::size_t>(v);
    return begin[i + 1] - begin[i];
  }
};

Neighbors neighbors_of(const Ising& model) {
  Neighbors lists;
  const auto n = static_cast<std::size_t>(model.n);
  lists.begin.assign(n + 1, 0);
  for (const Edge& e : model.couplings) {
    ++lists.begin[static_cast<std::size_t>(e.u) + 1];
    ++lists.begin[static_cast<std::size_t>(e.v) + 1];
  }
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  const auto total = static_cast<std::size_t>(lists.begin.back());
  lists.vertex.resize(total);
  lists.weight.resize(total);
  std::vector<std::int64_t> next(lists.begin.begin(), lists.begin.end() - 1);
  const auto put = [&](std::int32_t from, std::int32_t to, double weight) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++);
    lists.vertex[at] = to;
    lists.weight[at] = weight;
  };
  for (const Edge& e : model.couplings) {
    put(e.u, e.v, e.weight);
    put(e.v, e.u, e.weight);
  }
  return lists;
}

// Greedy colouring; empty if more than `most` colours would be needed.
std::vector<std::int32_t> color(const Neighbors& lists, std::int32_t n,
                                const std::vector<std::int32_t>& order, std::int32_t most) {
  std::vector<std::int32_t> colors(static_cast<std::size_t>(n), -1);
  std::vector<std::int32_t> used(static_cast<std::size_t>(most), -1);
  for (const std::int32_t v : order) {
    const auto i = static_cast<std::size_t>(v);
    for (std::int64_t e = lists.begin[i]; e < lists.begin[i + 1]; ++e) {
      const auto neighbor = static_cast<std::size_t>(lists.vertex[static_cast<std::size_t>(e)]);
      if (colors[neighbor] >= 0) used[static_cast<std::size_t>(colors[neighbor])] = v;
    }
    std::int32_t c = 0;
    while (c < most && used[static_cast<std::size_t>(c)] == v) ++c;
    if (c == most) return {};
    colors[i] = c;
  }
  return colors;
}

// Variables of the highest degree first; of equal degree in their order.
std::vector<std::int32_t> by_falling_degree(const Neighbors& lists, std::int32_t n) {
  std::int64_t highest = 0;
  for (std::int32_t v = 0; v < n; ++v) highest = std::max(highest, lists.degree(v));
  std::vector<std::int32_t> next(static_cast<std::size_t>(highest) + 2, 0);
  for (std::int32_t v = 0; v < n; ++v) {
    ++next[static_cast<std::size_t>(highest - lists.degree(v)) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  for (std::int32_t v = 0; v < n; ++v) {
    std::int32_t& place = next[static_cast<std::size_t>(highest - lists.degree(v))];
    order[static_cast<std::size_t>(place++)] = v;
  }
  return order;
}

// The classes one after the other, each in `order`, and -1 where its last quad is filled up.
void order_by_color(const std::vector<std::int32_t>& colors, const std::vector<std::int32_t>& order,
                    PairwisePlan& plan) {
  const std::int32_t n_colors = 1 + *std::max_element(colors.begin(), colors.end());
  std::vector<std::int32_t> next(static_cast<std::size_t>(n_colors), 0);
  for (const std::int32_t color : colors) ++next[static_cast<std::size_t>(color)];
  std::int32_t quads = 0;
  for (std::int32_t& places : next) {
    const std::int32_t begin = 4 * quads;
    quads += (places + 3) / 4;
    places = begin;
    plan.class_begin.push_back(quads);
  }
  plan.variable.assign(static_cast<std::size_t>(4) * static_cast<std::size_t>(quads), -1);
  for (const std::int32_t v : order) {
    const std::int32_t color = colors[static_cast<std::size_t>(v)];
    const std::int32_t site = next[static_cast<std::size_t>(color)]++;
    plan.variable[static_cast<std::size_t>(site)] = v;
  }
}

void order_sites(const Neighbors& lists, PairwisePlan& plan) {
  const std::int32_t n = plan.n_variables;
  const std::vector<std::int32_t> by_degree = by_falling_degree(lists, n);
  // A class should hold some quads at least, or there is nothing to do side by side. Where an
  // eighth of all pairs is coupled, keeping local fields beats summing them, and that wants the
  // sites in order.
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  const bool dense = static_cast<double>(lists.vertex.size()) >= pairs / 8;
  const std::int32_t max_colors = dense ? 0 : n / 8;
  const std::vector<std::int32_t> colors = color(lists, n, by_degree, max_colors);
  plan.sequential = colors.empty();
  plan.class_begin.push_back(0);
  if (plan.sequential) {
    plan.variable.assign((static_cast<std::size_t>(n) + 3) / 4 * 4, -1);
    std::iota(plan.variable.begin(), plan.variable.begin() + n, 0);
    plan.class_begin.push_back(plan.n_sites() / 4);
  } else {
    order_by_color(colors, by_degree, plan);
  }
  plan.n_classes = static_cast<std::int32_t>(plan.class_begin.size()) - 1;
}

bool is_integer(double x) { return std::floor(x) == x; }

void choose_arithmetic(const Ising& model, const Neighbors& lists, PairwisePlan& plan) {
  double largest = 0;
  plan.integral = true;
  for (std::int32_t v = 0; v < plan.n_variables; ++v) {
    const auto i = static_cast<std::size_t>(v);
    double sum = 0;
    for (std::int64_t e = lists.begin[i]; e < lists.begin[i + 1]; ++e) {
      const double weight = lists.weight[static_cast<std::size_t>(e)];
      sum += std::abs(weight);
      plan.integral = plan.integral && is_integer(weight);
    }
    plan.integral = plan.integral && is_integer(model.fields[i]);
    plan.max_coupling_sum = std::max(plan.max_coupling_sum, sum);
    largest = std::max(largest, sum + std::abs(model.fields[i]));
    plan.total_sum += sum + std::abs(model.fields[i]);
  }
  plan.integral = plan.integral && integer_scale(model) == 1;  // also: not too large
  plan.arithmetic = Arithmetic::wide;
  if (plan.integral && 2 * largest <= 0x1p24) plan.arithmetic = Arithmetic::medium;
  if (plan.integral && 2 * largest <= 32767) plan.arithmetic = Arithmetic::narrow;
}

// @pre the arithmetic is chosen.
void lay_out_rows(const Ising& model, const Neighbors& lists, PairwisePlan& plan) {
  std::vector<std::uint32_t> site_of(static_cast<std::size_t>(plan.n_variables));
  for (std::int32_t site = 0; site < plan.n_sites(); ++site) {
    const std::int32_t v = plan.variable[static_cast<std::size_t>(site)];
    if (v >= 0) site_of[static_cast<std::size_t>(v)] = static_cast<std::uint32_t>(site);
  }
  const auto sites = static_cast<std::size_t>(plan.n_sites());
  plan.row_begin.reserve(sites + 1);
  plan.base.reserve(sites);
  plan.field.reserve(sites);
  plan.entries.reserve(lists.vertex.size() + sites);
  const bool wide = plan.arithmetic == Arithmetic::wide;
  if (wide) plan.weights_f64.reserve(lists.vertex.size() + sites);
  plan.row_begin.push_back(0);
  std::vector<std::pair<std::uint32_t, double>> row;
  for (std::int32_t site = 0; site < plan.n_sites(); ++site) {
    const std::int32_t v = plan.variable[static_cast<std::size_t>(site)];
    row.clear();
    double sum = 0;
    double field = 0;
    if (v >= 0) {
      const auto i = static_cast<std::size_t>(v);
      for (std::int64_t e = lists.begin[i]; e < lists.begin[i + 1]; ++e) {
        const auto at = static_cast<std::size_t>(e);
        row.emplace_back(site_of[static_cast<std::size_t>(lists.vertex[at])], lists.weight[at]);
      }
      std::sort(row.begin(), row.end());
      for (const auto& [neighbor, weight] : row) sum += weight;
      field = model.fields[i];
      plan.has_fields = plan.has_fields || field != 0;
      plan.max_neighbors = std::max(plan.max_neighbors, static_cast<std::int32_t>(row.size()));
    }
    // An even number of entries lets the GPU read two neighbours at a time.
    if (row.size() % 2 != 0) row.emplace_back(static_cast<std::uint32_t>(site), 0.0);
    for (const auto& [neighbor, weight] : row) {
      plan.entries.push_back({neighbor, static_cast<float>(weight)});
      if (wide) plan.weights_f64.push_back(weight);
    }
    plan.row_begin.push_back(static_cast<std::int64_t>(plan.entries.size()));
    plan.base.push_back(field + sum);
    plan.field.push_back(field);
  }
}

}  // namespace

std::int64_t PairwisePlan::divisor_of_row(std::size_t site) const {
  std::int64_t divisor = 0;
  for (std::int64_t e = row_begin[site]; e < row_begin[site + 1]; ++e) {
    divisor = std::gcd(divisor, static_cast<std::int64_t>(weight(e)));
  }
  return divisor;
}

PairwisePlan plan_pairwise(const Ising& model) {
  constexpr std::int32_t max_variables = 1
                                         << 30;  // sites, fillers included, are counted in 32 bits
  if (model.n > max_variables) {
    throw InvalidArgument("problem.size", std::to_string(model.n) + " variables are too many",
                          "a pairwise model can have at most " + std::to_string(max_variables));
  }
  PairwisePlan plan;
  plan.n_variables = model.n;
  const Neighbors lists = neighbors_of(model);
  order_sites(lists, plan);
  choose_arithmetic(model, lists, plan);
  lay_out_rows(model, lists, plan);
  return plan;
}

double integer_scale(const Ising& model) {
  double total = 0;
  for (const double h : model.fields) total += std::abs(h);
  for (const Edge& e : model.couplings) total += std::abs(e.weight);
  for (int power = 0; power <= 20; ++power) {
    const double scale = std::ldexp(1.0, power);
    // An energy is summed over both ends of each coupling, so twice the total stays within 2^53.
    if (total * scale > 0x1p52) return 0;
    const bool fields_fit = std::all_of(model.fields.begin(), model.fields.end(),
                                        [&](double h) { return is_integer(h * scale); });
    const bool couplings_fit =
        std::all_of(model.couplings.begin(), model.couplings.end(),
                    [&](const Edge& e) { return is_integer(e.weight * scale); });
    if (fields_fit && couplings_fit) return scale;
  }
  return 0;
}

}  // namespace kiln::problems
