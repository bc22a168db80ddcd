// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The QUBO of an assignment.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/problems/assignment.hpp"

#include "beta_range.hpp"
#include "choices/checks.hpp"
#include "sum_of_terms.hpp"

namespace kiln::problems {
namespace {

// n items at m places, minimised: constant + sum linear[i][j] + sum over pairs of items of
// flow[i][k] distance[j][l]; all terms but the constant are at least 0.
struct Costs {
  std::int64_t n = 0, m = 0;
  double constant = 0;
  std::vector<double> linear;          // [n][m]
  std::vector<double> flow, distance;  // [n][n] and [m][m] without a diagonal; empty: none
};

void check_pairs(std::int64_t n, std::int64_t m, bool quadratic) {
  if (n < 1) throw InvalidArgument("problem.size", "there is nothing to assign", "at least 1 row");
  const auto items = static_cast<double>(n), places = static_cast<double>(m);
  const double bits = items * places;
  const double pairs = quadratic ? bits * bits / 2 : bits * (items + places) / 2;
  if (pairs <= static_cast<double>(max_assignment_pairs)) return;
  throw InvalidArgument(
      "problem.size",
      std::to_string(n) + " rows and " + std::to_string(m) + " columns have too many pairs of bits",
      "at most 2^26 pairs: " + std::string(quadratic ? "107 facilities" : "406 workers and tasks"));
}

void require_finite(const std::vector<double>& numbers, std::int64_t expected) {
  if (std::ssize(numbers) != expected) {
    throw InvalidArgument("problem.size",
                          "a matrix has " + std::to_string(numbers.size()) + " numbers",
                          std::to_string(expected));
  }
  TermSum sum;
  for (const double number : numbers) sum.add(std::abs(number));
  if (std::isfinite(8 * sum.value())) return;
  throw InvalidArgument("problem.value", "the numbers are too large to add up",
                        "finite numbers whose sum is below 1e307");
}

bool are_whole(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::floor(x) == x; });
}

// Every assignment has one term of each row.
void take_out_rows(Costs& costs) {
  for (std::int64_t i = 0; i < costs.n; ++i) {
    const auto begin = costs.linear.begin() + static_cast<std::ptrdiff_t>(i * costs.m);
    const auto end = begin + static_cast<std::ptrdiff_t>(costs.m);
    const double least = *std::min_element(begin, end);
    for (auto one = begin; one != end; ++one) *one -= least;
    costs.constant += least;
  }
}

// Every assignment has every pair of the other matrix once.
void take_out_pairs(std::vector<double>& matrix, const std::vector<double>& other, std::int64_t n,
                    double& constant) {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < n * n; ++k) {
    if (k % (n + 1) != 0) least = std::min(least, matrix[static_cast<std::size_t>(k)]);
  }
  TermSum sum;
  for (std::int64_t k = 0; k < n * n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (k % (n + 1) == 0) {
      matrix[at] = 0;
    } else {
      matrix[at] -= least;
      sum.add(other[at]);
    }
  }
  if (n > 1) constant += least * sum.value();
}

Costs costs_of(const Assignment& a) {
  Costs costs{std::ssize(a.workers), std::ssize(a.tasks), 0, a.costs, {}, {}};
  if (a.sense == Sense::maximize) {
    for (double& cost : costs.linear) cost = 0.0 - cost;
  }
  take_out_rows(costs);
  return costs;
}

Costs costs_of(const QuadraticAssignment& a) {
  const std::int64_t n = std::ssize(a.facilities);
  Costs costs{n, n, 0, {}, a.flows, a.distances};
  if (a.sense == Sense::maximize) {
    for (double& distance : costs.distance) distance = 0.0 - distance;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      costs.linear.push_back(costs.flow[static_cast<std::size_t>(i * (n + 1))] *
                             costs.distance[static_cast<std::size_t>(j * (n + 1))]);
    }
  }
  take_out_rows(costs);
  for (std::int64_t i = 0; i < n; ++i) costs.flow[static_cast<std::size_t>(i * (n + 1))] = 0;
  take_out_pairs(costs.distance, costs.flow, n, costs.constant);
  take_out_pairs(costs.flow, costs.distance, n, costs.constant);
  return costs;
}

// The numbers of a row or a column without the diagonal, greatest first.
std::vector<std::vector<double>> sorted_lines(const std::vector<double>& matrix, std::int64_t n,
                                              bool columns) {
  std::vector<std::vector<double>> lines(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < n; ++k) {
      if (k == i) continue;
      lines[static_cast<std::size_t>(i)].push_back(
          matrix[static_cast<std::size_t>(columns ? k * n + i : i * n + k)]);
    }
    std::ranges::sort(lines[static_cast<std::size_t>(i)], std::greater<>{});
  }
  return lines;
}

// The greatest cost of each item at each place beside any others: sorted flows meet sorted
// distances (the rearrangement inequality).
std::vector<double> greatest_costs(const Costs& costs) {
  std::vector<double> greatest = costs.linear;
  if (costs.flow.empty()) return greatest;
  for (const bool columns : {false, true}) {
    const auto flows = sorted_lines(costs.flow, costs.n, columns);
    const auto distances = sorted_lines(costs.distance, costs.m, columns);
    for (std::size_t k = 0; k < greatest.size(); ++k) {
      const std::vector<double>& flow = flows[k / distances.size()];
      greatest[k] = std::inner_product(flow.begin(), flow.end(),
                                       distances[k % distances.size()].begin(), greatest[k]);
    }
  }
  return greatest;
}

// What one item pays at most at the best place that is free.
std::vector<double> bounds_of(const Costs& costs) {
  std::vector<double> greatest = greatest_costs(costs), bounds;
  for (std::int64_t i = 0; i < costs.n; ++i) {
    const auto begin = greatest.begin() + static_cast<std::ptrdiff_t>(i * costs.m);
    const auto bound = begin + static_cast<std::ptrdiff_t>(costs.n - 1);
    std::nth_element(begin, bound, begin + static_cast<std::ptrdiff_t>(costs.m));
    bounds.push_back(*bound);
  }
  return bounds;
}

// The step above a bound: integers stay integers, and no rounding reaches the step of others.
double step_of(const std::vector<double>& bounds, bool whole) {
  const double greatest = *std::ranges::max_element(bounds);
  if (whole) return std::max(1.0, std::ceil(0x1p-40 * greatest));
  return greatest > 0 ? 0x1p-10 * greatest : 1;
}

Qubo assignment_qubo(const Costs& costs, const std::vector<double>& penalties, double step) {
  const std::int64_t n = costs.n, m = costs.m;
  const auto penalty = [&](std::int64_t i) { return penalties[static_cast<std::size_t>(i)]; };
  const auto of = [n](const std::vector<double>& matrix, std::int64_t i, std::int64_t k) {
    return matrix[static_cast<std::size_t>(i * n + k)];
  };
  Qubo qubo;
  qubo.n = static_cast<std::int32_t>(n * m);
  TermSum offset;
  offset.add(costs.constant);
  for (const double one : penalties) offset.add(one);
  qubo.offset = offset.value();
  const auto add = [&](std::int64_t bit, std::int64_t other, double value) {
    if (value == 0) return;
    qubo.quadratic.push_back(
        {static_cast<std::int32_t>(bit), static_cast<std::int32_t>(other), value});
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      const std::int64_t bit = i * m + j;
      qubo.linear.push_back(costs.linear[static_cast<std::size_t>(bit)] - penalty(i));
      for (std::int64_t l = j + 1; l < m; ++l) add(bit, i * m + l, 2 * penalty(i));
      for (std::int64_t k = i + 1; k < n; ++k) {
        const double clash = std::min(penalty(i), penalty(k)) + step;
        if (costs.flow.empty()) {
          add(bit, k * m + j, clash);
          continue;
        }
        for (std::int64_t l = 0; l < m; ++l) {
          add(bit, k * m + l,
              l == j ? clash
                     : of(costs.flow, i, k) * of(costs.distance, j, l) +
                           of(costs.flow, k, i) * of(costs.distance, l, j));
        }
      }
    }
  }
  return qubo;
}

AssignmentModel model_of(const Costs& costs, bool whole, Sense sense, double size) {
  AssignmentModel model;
  const std::vector<double> bounds = bounds_of(costs);
  const double step = step_of(bounds, whole);
  double sum = size;
  for (const double bound : bounds) {
    model.penalties.push_back(bound + step);
    sum += bound + step;
  }
  model.qubo = assignment_qubo(costs, model.penalties, step);
  model.rounding = 0x1p-49 * sum;
  if (sense == Sense::minimize) return model;
  for (double& value : model.qubo.linear) value = 0.0 - value;
  for (QuboTerm& term : model.qubo.quadratic) term.value = 0.0 - term.value;
  model.qubo.offset = 0.0 - model.qubo.offset;
  return model;
}

double size_of(const std::vector<double>& numbers) {
  double size = 0;
  for (const double number : numbers) size += std::abs(number);
  return size;
}

}  // namespace

void detail::require_valid(const Assignment& a) {
  const std::int64_t n = std::ssize(a.workers), m = std::ssize(a.tasks);
  check_pairs(n, m, false);
  if (n > m) {
    throw InvalidArgument(
        "problem.size",
        std::to_string(n) + " rows (workers) and " + std::to_string(m) + " columns (tasks)",
        "at least as many columns as rows, because each row gets a different column",
        "exchange rows and columns of the table");
  }
  require_finite(a.costs, n * m);
}

void detail::require_valid(const QuadraticAssignment& a) {
  const std::int64_t n = std::ssize(a.facilities), m = std::ssize(a.places);
  check_pairs(n, m, true);
  if (n != m) {
    throw InvalidArgument(
        "problem.size",
        "there are flows of " + std::to_string(n) + " facilities and distances of " +
            std::to_string(m) + " places",
        "as many facilities as places",
        n < m ? "add facilities without flow" : "add places, or remove facilities");
  }
  require_finite(a.flows, n * n);
  require_finite(a.distances, n * n);
  if (std::isfinite(8 * size_of(a.flows) * size_of(a.distances))) return;
  throw InvalidArgument("problem.value", "flows times distances are too large to add up",
                        "finite products whose sum is below 1e307");
}

// The penalties are as large as the greatest costs, and costs below their last digits are lost.
void require_resolved(const Assignment& assignment, const AssignmentModel& model) {
  constexpr double digits = 1e-3;
  std::vector<double> sizes;
  for (const double cost : assignment.costs) {
    if (cost != 0) sizes.push_back(std::abs(cost));
  }
  if (sizes.empty()) return;
  if (model.rounding <= digits * median(std::move(sizes))) return;
  throw InvalidArgument("problem.value",
                        "the largest cost is so much greater than others that assignments "
                        "without it cannot be told apart in double precision",
                        "costs below a billion times the others",
                        "a smaller cost for what is forbidden: more than all others together is "
                        "enough");
}

AssignmentModel assignment_model(const Assignment& assignment) {
  detail::require_valid(assignment);
  const bool whole = are_whole(assignment.costs);
  AssignmentModel model =
      model_of(costs_of(assignment), whole, assignment.sense, size_of(assignment.costs));
  if (!whole) require_resolved(assignment, model);
  return model;
}

AssignmentModel assignment_model(const QuadraticAssignment& assignment) {
  detail::require_valid(assignment);
  const auto greatest = [](const std::vector<double>& numbers) {
    double size = 0;
    for (const double number : numbers) size = std::max(size, std::abs(number));
    return size;
  };
  return model_of(costs_of(assignment),
                  are_whole(assignment.flows) && are_whole(assignment.distances), assignment.sense,
                  2 * size_of(assignment.flows) * greatest(assignment.distances) +
                      2 * greatest(assignment.flows) * size_of(assignment.distances));
}

double cost_of(const Assignment& assignment, std::span<const std::int8_t> bits) {
  TermSum cost;
  for (std::size_t k = 0; k < bits.size(); ++k) {
    if (bits[k] != 0) cost.add(assignment.costs[k]);
  }
  return cost.value();
}

double cost_of(const QuadraticAssignment& assignment, std::span<const std::int8_t> bits) {
  const std::size_t n = assignment.facilities.size();
  std::vector<std::size_t> ones;
  for (std::size_t k = 0; k < bits.size(); ++k) {
    if (bits[k] != 0) ones.push_back(k);
  }
  TermSum cost;
  for (const std::size_t a : ones) {
    for (const std::size_t b : ones) {
      cost.add(assignment.flows[a / n * n + b / n] * assignment.distances[a % n * n + b % n]);
    }
  }
  return cost.value();
}

}  // namespace kiln::problems
