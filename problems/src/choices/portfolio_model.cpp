// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Means, covariances and the QUBO of a portfolio.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/option_info.hpp"
#include "kiln/problems/portfolio.hpp"

#include "beta_range.hpp"
#include "choices/checks.hpp"
#include "sum_of_terms.hpp"

namespace kiln::problems {

void detail::require_valid(const Portfolio& portfolio) {
  const auto refuse = [](const std::string& what, const std::string& expected,
                         const std::string& fix = {}) {
    throw InvalidArgument("problem.size", what, expected, fix);
  };
  const std::int64_t n = std::ssize(portfolio.assets);
  if (n < 2 || n > Portfolio::max_assets) {
    refuse("the table has " + std::to_string(n) + (n == 1 ? " asset" : " assets"),
           "2 .. " + std::to_string(Portfolio::max_assets) + " columns of returns");
  }
  if (portfolio.periods < 2) {
    refuse("the table has " + std::to_string(portfolio.periods) + " period",
           "at least 2 rows of returns, for a variance");
  }
  if (std::ssize(portfolio.returns) != n * portfolio.periods) {
    refuse("there are " + std::to_string(portfolio.returns.size()) + " returns of " +
               std::to_string(n) + " assets in " + std::to_string(portfolio.periods) + " periods",
           "a return for each asset in each period");
  }
  if (portfolio.pick < 1 || portfolio.pick > n) {
    refuse("the number of assets to pick is " + std::to_string(portfolio.pick) +
               ", and the table has " + std::to_string(n) + " assets",
           "1 .. " + std::to_string(n), "--pick " + std::to_string((n + 1) / 2));
  }
  if (!(portfolio.risk >= 0) || !std::isfinite(portfolio.risk)) {
    throw InvalidArgument(
        "problem.value", "the risk aversion is " + kiln::detail::show_real(portfolio.risk),
        "a number from 0, which weighs the variance against the mean", "--risk 1");
  }
  if (!std::ranges::all_of(portfolio.returns, [](double x) { return std::isfinite(x); })) {
    throw InvalidArgument("problem.value", "a return is not a finite number");
  }
}

namespace {

constexpr std::int64_t chunk_periods = 256;
constexpr std::int64_t tile_assets = 16;

std::vector<double> means_of(const Portfolio& portfolio) {
  const std::size_t n = portfolio.assets.size();
  std::vector<TermSum> sums(n);
  for (std::size_t k = 0; k < portfolio.returns.size(); ++k) {
    sums[k % n].add(portfolio.returns[k]);
  }
  std::vector<double> means(n);
  for (std::size_t i = 0; i < n; ++i) {
    means[i] = sums[i].value() / static_cast<double>(portfolio.periods);
  }
  return means;
}

double product_of(const double* a, const double* b) {
  std::array<double, 8> sums{};
  for (std::int64_t t = 0; t < chunk_periods; t += 8) {
    for (std::size_t k = 0; k < 8; ++k) {
      sums[k] += a[static_cast<std::size_t>(t) + k] * b[static_cast<std::size_t>(t) + k];
    }
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

// Deviations of assets first .. n - 1 from their means in a chunk of periods, each asset in a row;
// periods beyond the last one are 0.
void take_deviations(const Portfolio& portfolio, const std::vector<double>& means,
                     std::int64_t first, std::int64_t begin, std::vector<double>& rows) {
  const std::int64_t n = std::ssize(portfolio.assets);
  const std::int64_t periods = std::min(chunk_periods, portfolio.periods - begin);
  std::ranges::fill(rows, 0.0);
  for (std::int64_t t = 0; t < periods; ++t) {
    const double* const row = portfolio.returns.data() + (begin + t) * n;
    for (std::int64_t i = first; i < n; ++i) {
      rows[static_cast<std::size_t>((i - first) * chunk_periods + t)] =
          row[i] - means[static_cast<std::size_t>(i)];
    }
  }
}

// Sums of products of deviations, and of deviations: those are 0 but for the rounding of the means.
// A tile of assets at a time, so that its deviations stay in the cache.
std::vector<double> covariance_of(const Portfolio& portfolio, const std::vector<double>& means) {
  const std::int64_t n = std::ssize(portfolio.assets);
  const auto at = [n](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i * n + j);
  };
  std::vector<double> covariance(static_cast<std::size_t>(n * n));
  std::vector<double> sums(static_cast<std::size_t>(n));
  const auto add_tile = [&](std::int64_t first, std::int64_t end, std::int64_t) {
    std::vector<double> rows(static_cast<std::size_t>((n - first) * chunk_periods));
    const auto row = [&](std::int64_t i) { return rows.data() + (i - first) * chunk_periods; };
    for (std::int64_t begin = 0; begin < portfolio.periods; begin += chunk_periods) {
      take_deviations(portfolio, means, first, begin, rows);
      for (std::int64_t i = first; i < end; ++i) {
        sums[static_cast<std::size_t>(i)] += std::accumulate(row(i), row(i) + chunk_periods, 0.0);
        for (std::int64_t j = i; j < n; ++j) covariance[at(i, j)] += product_of(row(i), row(j));
      }
    }
  };
  for_each_block(n, add_tile, tile_assets);
  const auto periods = static_cast<double>(portfolio.periods);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i; j < n; ++j) {
      const double shared =
          sums[static_cast<std::size_t>(i)] * sums[static_cast<std::size_t>(j)] / periods;
      const double value = (covariance[at(i, j)] - shared) / (periods - 1);
      if (!std::isfinite(value)) {
        throw InvalidArgument(
            "problem.value",
            "the covariance of '" + portfolio.assets[static_cast<std::size_t>(i)] + "' and '" +
                portfolio.assets[static_cast<std::size_t>(j)] + "' is too large for a double",
            "returns below 1e150");
      }
      covariance[at(i, j)] = covariance[at(j, i)] = value;
    }
  }
  return covariance;
}

// What decides on the penalty: the terms of f in the order of PortfolioModel.
struct Terms {
  std::int64_t n = 0, pick = 0;
  std::vector<double> covariance;  // times risk / pick^2
  std::vector<double> means;       // divided by pick, minus a common part
  double common = 0;               // part of each mean, not divided
};

Terms terms_of(const Portfolio& portfolio) {
  Terms terms{std::ssize(portfolio.assets), portfolio.pick, {}, means_of(portfolio), 0};
  terms.covariance = covariance_of(portfolio, terms.means);
  const auto pick = static_cast<double>(portfolio.pick);
  for (double& value : terms.covariance) value *= portfolio.risk / (pick * pick);
  // The middle of the means, so that a large common part costs no digits of coefficients.
  const auto [least, greatest] = std::ranges::minmax_element(terms.means);
  terms.common = *least / 2 + *greatest / 2;
  for (double& mean : terms.means) mean = (mean - terms.common) / pick;
  return terms;
}

// The greatest change of the first two terms of f by the best addition to too few assets.
double change_by_addition(const Terms& terms) {
  std::vector<double> changes, others;
  for (std::int64_t i = 0; i < terms.n; ++i) {
    const auto row = terms.covariance.begin() + static_cast<std::ptrdiff_t>(i * terms.n);
    others.assign(row, row + static_cast<std::ptrdiff_t>(terms.n));
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const auto last = others.begin() + static_cast<std::ptrdiff_t>(terms.pick - 1);
    std::nth_element(others.begin(), last, others.end(), std::greater<>{});
    double change = row[static_cast<std::ptrdiff_t>(i)] - terms.means[static_cast<std::size_t>(i)];
    for (auto one = others.begin(); one != last; ++one) change += 2 * std::max(*one, 0.0);
    changes.push_back(change);
  }
  const auto bound = changes.begin() + static_cast<std::ptrdiff_t>(terms.pick - 1);
  std::ranges::nth_element(changes, bound);
  return *bound;
}

// The same by the best removal from too many assets; nothing is removed where all are picked.
double change_by_removal(const Terms& terms, double addition) {
  if (terms.pick == terms.n) return -addition;
  std::vector<double> changes;
  for (std::int64_t i = 0; i < terms.n; ++i) {
    changes.push_back(terms.covariance[static_cast<std::size_t>(i * terms.n + i)] +
                      terms.means[static_cast<std::size_t>(i)]);
  }
  std::ranges::sort(changes, std::greater<>{});
  const auto end = changes.begin() + static_cast<std::ptrdiff_t>(terms.pick + 1);
  return std::accumulate(changes.begin(), end, 0.0) / static_cast<double>(terms.pick + 1);
}

double greatest_variance(const Terms& terms) {
  double greatest = 0;
  for (std::int64_t i = 0; i < terms.n; ++i) {
    greatest = std::max(greatest, terms.covariance[static_cast<std::size_t>(i * terms.n + i)]);
  }
  return greatest;
}

// Greater than the bound by what no rounding reaches, and positive where nothing differs.
double penalty_above(double bound, const Terms& terms) {
  constexpr double margin = 0x1p-10;
  const auto [least, greatest] = std::ranges::minmax_element(terms.means);
  const double size = std::max({bound, greatest_variance(terms), *greatest - *least});
  return std::max(bound, 0.0) + (size > 0 ? margin * size : 1);
}

// Of f in the units of the returns, and of what the returns of a portfolio give.
double rounding_bound(const Portfolio& portfolio, const Terms& terms, const PortfolioModel& model) {
  const auto pick = static_cast<double>(portfolio.pick);
  const double chain = static_cast<double>(portfolio.periods / chunk_periods) + 64;
  double greatest_mean = std::abs(terms.common);
  for (const double mean : terms.means) {
    greatest_mean = std::max(greatest_mean, std::abs(terms.common + pick * mean));
  }
  return 0x1p-52 * chain * pick * pick * greatest_variance(terms) +
         0x1p-50 * (greatest_mean + model.penalty * pick * pick + std::abs(model.shift) * pick);
}

// The penalty is about as large as the greatest variance, and what differs by less than its last
// digits is equal. Portfolios of the other assets must not be.
void require_resolved(const Portfolio& portfolio, const Terms& terms, const PortfolioModel& model) {
  constexpr double digits = 1e-3;
  const auto pick = static_cast<double>(portfolio.pick);
  const double usual = median(terms.means);
  std::vector<double> sizes;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < terms.means.size(); ++i) {
    const auto variance = [&](std::size_t k) {
      return terms.covariance[k * terms.means.size() + k];
    };
    if (variance(i) > variance(widest)) widest = i;
    sizes.push_back(variance(i) + std::abs(terms.means[i] - usual));
  }
  const double size = median(std::move(sizes));
  const double lost = 0x1p-50 * (model.penalty * pick * pick + std::abs(model.shift) * pick);
  if (size == 0 || lost <= digits * size) return;
  const std::string& asset = portfolio.assets[widest];
  throw InvalidArgument("problem.value",
                        "the returns of '" + asset +
                            "' vary so much more than those of other assets that portfolios "
                            "without it cannot be told apart in double precision",
                        "returns of similar sizes", "remove '" + asset + "', or its outliers");
}

Qubo portfolio_qubo(const Terms& terms, double penalty, double shift) {
  const auto pick = static_cast<double>(terms.pick);
  Qubo qubo;
  qubo.n = static_cast<std::int32_t>(terms.n);
  qubo.offset = penalty * pick * pick + shift * pick - terms.common;
  qubo.quadratic.reserve(static_cast<std::size_t>(terms.n * (terms.n - 1) / 2));
  for (std::int32_t i = 0; i < qubo.n; ++i) {
    const auto row = terms.covariance.begin() + static_cast<std::ptrdiff_t>(i) * qubo.n;
    qubo.linear.push_back(row[i] - terms.means[static_cast<std::size_t>(i)] - shift +
                          penalty * (1 - 2 * pick));
    for (std::int32_t j = i + 1; j < qubo.n; ++j) {
      const double value = 2 * (row[j] + penalty);
      if (value != 0) qubo.quadratic.push_back({i, j, value});
    }
  }
  return qubo;
}

}  // namespace

PortfolioModel portfolio_model(const Portfolio& portfolio) {
  detail::require_valid(portfolio);
  const Terms terms = terms_of(portfolio);
  const double addition = change_by_addition(terms);
  const double removal = change_by_removal(terms, addition);
  PortfolioModel model;
  model.shift = addition / 2 - removal / 2;
  model.penalty = penalty_above(addition / 2 + removal / 2, terms);
  model.qubo = portfolio_qubo(terms, model.penalty, model.shift);
  model.rounding = rounding_bound(portfolio, terms, model);
  require_resolved(portfolio, terms, model);
  return model;
}

PortfolioValue portfolio_value(const Portfolio& portfolio, std::span<const std::int8_t> chosen) {
  const std::size_t n = portfolio.assets.size();
  std::vector<std::size_t> assets;
  for (std::size_t i = 0; i < n; ++i) {
    if (chosen[i] != 0) assets.push_back(i);
  }
  // Deviations from the first period cost no digits where returns have a large common part.
  const auto pick = static_cast<double>(portfolio.pick);
  const auto periods = static_cast<double>(portfolio.periods);
  TermSum first, sum;
  for (const std::size_t i : assets) first.add(portfolio.returns[i] / pick);
  std::vector<double> deviations;
  deviations.reserve(static_cast<std::size_t>(portfolio.periods));
  for (std::int64_t t = 0; t < portfolio.periods; ++t) {
    const double* const row = portfolio.returns.data() + static_cast<std::size_t>(t) * n;
    TermSum deviation;
    for (const std::size_t i : assets) deviation.add(row[i] - portfolio.returns[i]);
    deviations.push_back(deviation.value() / pick);
    sum.add(deviations.back());
  }
  const double mean = sum.value() / periods;
  TermSum squares;
  for (const double deviation : deviations) squares.add((deviation - mean) * (deviation - mean));
  PortfolioValue result{first.value() + mean, squares.value() / (periods - 1), 0};
  result.value = portfolio.risk * result.variance - result.mean;
  return result;
}

}  // namespace kiln::problems
