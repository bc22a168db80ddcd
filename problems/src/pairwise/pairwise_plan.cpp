// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"

#include "canonical.hpp"
#include "pairwise/neighbors.hpp"
#include "pairwise/pairwise_objective.hpp"
#include "pairwise/site_order.hpp"

namespace kiln::problems {
namespace {

bool is_integer(double x) { return std::floor(x) == x; }

double field_of(const Ising& model, std::int32_t v) {
  return model.fields.empty() ? 0.0 : model.fields[static_cast<std::size_t>(v)];
}

// Lists of neighbours need couplings that are sorted; those of a problem are.
bool are_sorted(const std::vector<Edge>& couplings) {
  const std::vector<char> sorted =
      of_each_block(std::ssize(couplings), [&](std::int64_t begin, std::int64_t end) -> char {
        for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
          const Edge& e = couplings[k];
          if (e.u >= e.v || (k > 0 && couplings[k - 1].u > e.u)) return 0;
        }
        return 1;
      });
  return std::ranges::all_of(sorted, [](char of_block) { return of_block != 0; });
}

std::vector<Edge> sorted_couplings(std::vector<Edge> couplings) {
  for (Edge& e : couplings) {
    if (e.u > e.v) std::swap(e.u, e.v);
  }
  detail::sort_by_key(couplings);
  return couplings;
}

// Sums over the rows of a model.
struct RowSums {
  double largest = 0;   // |h| + sum |J|
  double coupling = 0;  // largest sum |J|
  double total = 0;     // of |h| + sum |J|
};

template <class Index>
RowSums row_sums(const Ising& model, const Neighbors<Index>& lists, std::int64_t begin,
                 std::int64_t end) {
  RowSums sums;
  for (auto v = static_cast<std::int32_t>(begin); v < end; ++v) {
    double sum = 0;
    lists.for_each(v, [&](std::int32_t, double weight) { sum += std::abs(weight); });
    sums.coupling = std::max(sums.coupling, sum);
    const double with_field = sum + std::abs(field_of(model, v));
    sums.largest = std::max(sums.largest, with_field);
    sums.total += with_field;
  }
  return sums;
}

template <class Index>
void choose_arithmetic(const Ising& model, const CoefficientSizes& sizes,
                       const Neighbors<Index>& lists, PairwisePlan& plan) {
  plan.integral = sizes.exact();
  // Rounded sums depend on their order, which one block keeps.
  const std::int64_t n = plan.n_variables;
  const std::int64_t block_size =
      plan.integral ? elements_for_a_thread : std::max<std::int64_t>(n, 1);
  RowSums all;
  for (const RowSums& sums : of_each_block(
           n,
           [&](std::int64_t begin, std::int64_t end) { return row_sums(model, lists, begin, end); },
           block_size)) {
    all = {std::max(all.largest, sums.largest), std::max(all.coupling, sums.coupling),
           all.total + sums.total};
  }
  plan.max_coupling_sum = all.coupling;
  plan.max_sum = all.largest;
  plan.total_sum = all.total;
  plan.arithmetic = Arithmetic::wide;
  if (plan.integral && 2 * all.largest <= 0x1p24) plan.arithmetic = Arithmetic::medium;
  if (plan.integral && 2 * all.largest <= 32767) plan.arithmetic = Arithmetic::narrow;
}

// Whether sites are swept in their order. A class should hold some quads at least, or there is
// nothing to do side by side. Where an eighth of all pairs is coupled, keeping local fields beats
// summing them, and that wants the sites in order.
template <class Index>
LargeVector<std::uint32_t> order_sites(const Neighbors<Index>& lists, std::size_t n_couplings,
                                       PairwisePlan& plan) {
  const std::int32_t n = plan.n_variables;
  const DegreeOrder by_degree(lists);
  plan.longest_row = by_degree.highest_degree();
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  const bool dense = static_cast<double>(2 * n_couplings) >= pairs / 8;
  const LargeVector<std::int32_t> colors = greedy_colors(lists, by_degree, dense ? 0 : n / 8);
  plan.sequential = colors.empty();
  plan.dense = dense;
  plan.class_begin.push_back(0);
  LargeVector<std::uint32_t> site_of;
  if (plan.sequential) {
    plan.variable.assign((static_cast<std::size_t>(n) + 3) / 4 * 4, -1);
    std::iota(plan.variable.begin(), plan.variable.begin() + n, 0);
    plan.class_begin.push_back(plan.n_sites() / 4);
    site_of.resize(static_cast<std::size_t>(n));
    std::iota(site_of.begin(), site_of.end(), 0u);
  } else {
    site_of = order_by_color(colors, by_degree, plan);
  }
  plan.n_classes = static_cast<std::int32_t>(plan.class_begin.size()) - 1;
  return site_of;
}

// An even number of entries lets the GPU read two neighbours at a time.
template <class Index>
void place_rows(const Neighbors<Index>& lists, PairwisePlan& plan) {
  const auto length_of = [&](std::int64_t site) {
    const std::int32_t v = plan.variable[static_cast<std::size_t>(site)];
    return v < 0 ? 0 : (lists.degree(v) + 1) / 2 * 2;
  };
  const std::int64_t sites = plan.n_sites();
  std::vector<std::int64_t> begins =
      of_each_block(sites, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t length = 0;
        for (std::int64_t site = begin; site < end; ++site) length += length_of(site);
        return length;
      });
  std::int64_t next = 0;
  for (std::int64_t& begin : begins) next += std::exchange(begin, next);
  plan.row_begin.resize(static_cast<std::size_t>(sites) + 1);
  for_each_block(sites, [&](std::int64_t begin, std::int64_t end, std::int64_t block) {
    std::int64_t place = begins[static_cast<std::size_t>(block)];
    for (std::int64_t site = begin; site < end; ++site) {
      plan.row_begin[static_cast<std::size_t>(site)] = place;
      place += length_of(site);
    }
  });
  plan.row_begin[static_cast<std::size_t>(sites)] = next;
  plan.entries.resize(static_cast<std::size_t>(next));
  if (plan.arithmetic == Arithmetic::wide) plan.weights_f64.resize(static_cast<std::size_t>(next));
}

using Entry = std::pair<std::uint32_t, double>;  // site and weight

// By rising sites, and of the same site by rising weights. Most rows are short; long ones are
// sorted where the sites are in the order of the variables.
void sort_row(std::vector<Entry>& row) {
  constexpr std::size_t short_row = 16;
  if (row.size() > short_row) {
    if (!std::is_sorted(row.begin(), row.end())) std::sort(row.begin(), row.end());
    return;
  }
  for (std::size_t i = 1; i < row.size(); ++i) {
    const Entry entry = row[i];
    std::size_t at = i;
    for (; at > 0 && entry < row[at - 1]; --at) row[at] = row[at - 1];
    row[at] = entry;
  }
}

// @pre the arithmetic is chosen.
template <class Index>
void lay_out_rows(const Ising& model, const Neighbors<Index>& lists,
                  const LargeVector<std::uint32_t>& site_of, PairwisePlan& plan) {
  place_rows(lists, plan);
  plan.base.resize(plan.variable.size());
  plan.field.resize(plan.variable.size());
  const bool wide = plan.arithmetic == Arithmetic::wide;
  for_each_block(plan.n_sites(), [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<Entry> row;
    for (auto site = static_cast<std::size_t>(begin); site < static_cast<std::size_t>(end);
         ++site) {
      const std::int32_t v = plan.variable[site];
      row.clear();
      double sum = 0;
      if (v >= 0) {
        lists.for_each(v, [&](std::int32_t neighbor, double weight) {
          row.emplace_back(site_of[static_cast<std::size_t>(neighbor)], weight);
        });
        sort_row(row);
        for (const auto& [neighbor, weight] : row) sum += weight;
      }
      plan.field[site] = v < 0 ? 0.0 : field_of(model, v);
      plan.base[site] = plan.field[site] + sum;
      if (row.size() % 2 != 0) row.emplace_back(static_cast<std::uint32_t>(site), 0.0);
      auto at = static_cast<std::size_t>(plan.row_begin[site]);
      for (const auto& [neighbor, weight] : row) {
        if (wide) plan.weights_f64[at] = weight;
        plan.entries[at++] = {neighbor, static_cast<float>(weight)};
      }
    }
  });
  plan.has_fields = std::ranges::any_of(plan.field, [](double h) { return h != 0; });
}

template <class Index>
PairwisePlan plan_sorted(const Ising& model, const CoefficientSizes& sizes) {
  PairwisePlan plan;
  plan.n_variables = model.n;
  const Neighbors<Index> lists(model.couplings, model.n);
  const LargeVector<std::uint32_t> site_of = order_sites(lists, model.couplings.size(), plan);
  choose_arithmetic(model, sizes, lists, plan);
  lay_out_rows(model, lists, site_of, plan);
  return plan;
}

}  // namespace

std::int64_t PairwisePlan::divisor_of_row(std::size_t site) const {
  std::int64_t divisor = 0;
  for (std::int64_t e = row_begin[site]; e < row_begin[site + 1] && divisor != 1; ++e) {
    divisor = std::gcd(divisor, static_cast<std::int64_t>(weight(e)));
  }
  return divisor;
}

CoefficientSizes sizes_of(const Ising& model) {
  const auto add = [](CoefficientSizes& sizes, double x) {
    sizes.sum += std::abs(x);
    sizes.largest = std::max(sizes.largest, std::abs(x));
    sizes.integers = sizes.integers && is_integer(x);
  };
  const auto join = [](CoefficientSizes& all, const std::vector<CoefficientSizes>& blocks) {
    for (const CoefficientSizes& some : blocks) {
      all.sum += some.sum;
      all.largest = std::max(all.largest, some.largest);
      all.integers = all.integers && some.integers;
    }
  };
  CoefficientSizes all;
  join(all, of_each_block(std::ssize(model.fields), [&](std::int64_t begin, std::int64_t end) {
         CoefficientSizes some;
         for (std::int64_t i = begin; i < end; ++i) {
           add(some, model.fields[static_cast<std::size_t>(i)]);
         }
         return some;
       }));
  join(all, of_each_block(std::ssize(model.couplings), [&](std::int64_t begin, std::int64_t end) {
         CoefficientSizes some;
         for (std::int64_t k = begin; k < end; ++k) {
           add(some, model.couplings[static_cast<std::size_t>(k)].weight);
         }
         return some;
       }));
  if (all.exact()) return all;
  // Rounded sums depend on their order.
  all.sum = 0;
  for (const double h : model.fields) all.sum += std::abs(h);
  for (const Edge& e : model.couplings) all.sum += std::abs(e.weight);
  return all;
}

PairwisePlan plan_pairwise(const Ising& model) { return plan_pairwise(model, sizes_of(model)); }

PairwisePlan plan_pairwise(const Ising& model, const CoefficientSizes& sizes) {
  constexpr std::int32_t max_variables = 1
                                         << 30;  // sites, fillers included, are counted in 32 bits
  if (model.n > max_variables) {
    throw InvalidArgument("problem.size", std::to_string(model.n) + " variables are too many",
                          "a pairwise model can have at most " + std::to_string(max_variables));
  }
  if (!are_sorted(model.couplings)) {
    return plan_pairwise({model.n, model.fields, sorted_couplings(model.couplings), 0.0}, sizes);
  }
  const bool few = model.couplings.size() <= std::numeric_limits<std::uint32_t>::max();
  return few ? plan_sorted<std::uint32_t>(model, sizes) : plan_sorted<std::uint64_t>(model, sizes);
}

double integer_scale(const Ising& model) { return integer_scale(model, sizes_of(model)); }

double integer_scale(const Ising& model, const CoefficientSizes& sizes) {
  for (int power = 0; power <= 20; ++power) {
    const double scale = std::ldexp(1.0, power);
    // An energy is summed over both ends of each coupling, so twice the total stays within 2^53.
    if (sizes.sum * scale > 0x1p52) return 0;
    if (sizes.integers) return 1;
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
