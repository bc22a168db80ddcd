// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/qubo.hpp"
#include "kiln/registry.hpp"

namespace kiln {

/// Returns of assets, of which `pick` are chosen with equal weights.
struct Portfolio {
  static constexpr std::int64_t max_assets = 11585;  ///< 2^26 pairs, each of which is a coupling

  std::vector<std::string> assets;  ///< [asset] names, unique
  std::int64_t periods = 0;         ///< at least 2
  std::vector<double> returns;      ///< [period][asset], finite
  std::int64_t pick = 1;            ///< number of assets to choose, 1 .. number of assets
  double risk = 1;                  ///< risk aversion, at least 0, in 1 / return
};

/// Makes the problem of choosing exactly `pick` assets that minimise
///
///     risk * variance - mean
///
/// of the returns of the portfolio with equal weights. The variance is the sample variance (divided
/// by periods - 1). The problem is a dense QUBO with a bit for each asset; the number of assets is
/// a quadratic penalty (problems::portfolio_model()). Values are recomputed from the returns. A
/// state with another number of assets is infeasible: its constraint value is the difference.
///
/// @throws InvalidArgument `problem.size` for fewer than 2 assets or periods, more than max_assets
///   assets, and `pick` outside 1 .. number of assets; `problem.value` for a risk aversion that is
///   negative or not finite, and for returns that are not finite or whose variance is not.
KILN_API Problem make_portfolio(Portfolio portfolio, std::string name = "portfolio");

namespace problems {

/// A portfolio as a QUBO:
///
///     f(x) = risk x'Cx / pick^2 - m'x / pick - shift (|x| - pick) + penalty (|x| - pick)^2
///
/// C is the covariance of the returns, m their means. On states with |x| = pick the last two terms
/// vanish. The penalty is exact: for each state with another number of assets there is a single
/// bit whose change towards `pick` makes f less. So neither the minimum of f nor any state that no
/// single flip makes better violates the constraint.
///
/// @par Proof  Let g_i(x) be the change of the first two terms when asset i is added.
///   Too few assets, at most pick - 1: g_i(x) <= u_i, where u_i counts only the pick - 1 largest
///   positive covariances of asset i. One of the `pick` assets with the smallest u_i is not chosen,
///   so some addition changes these terms by at most a, the pick-th smallest u_i.
///   Too many assets, at least pick + 1: the mean of -g_i(x - i) over the chosen assets is the mean
///   of r_i = risk C_ii / pick^2 + m_i / pick over them, minus 2 risk x'Cx / (pick^2 |x|), and C is
///   positive semidefinite. So some removal changes these terms by at most b, the mean of the
///   pick + 1 largest r_i.
///   With shift = (a - b) / 2 both bounds are (a + b) / 2. The penalty term changes by
///   -penalty (2d - 1) <= -penalty for a state that is d away from `pick`, and penalty is greater
///   than (a + b) / 2.
struct PortfolioModel {
  Qubo qubo;
  double penalty = 0;
  double shift = 0;     ///< of f, without the mean of all means, which is subtracted before
  double rounding = 0;  ///< bound of the rounding error of f and of portfolio_value()
};

/// @throws InvalidArgument as make_portfolio().
/// @par Cost  O(periods n^2) for n assets, on HostThreads::count() threads; the bits do not depend
///   on their number.
KILN_API PortfolioModel portfolio_model(const Portfolio& portfolio);

/// Mean, sample variance and objective value of a portfolio.
struct PortfolioValue {
  double mean = 0, variance = 0, value = 0;
};

/// Computes the value of chosen assets from the returns of the portfolio in each period; zeros if
/// none is chosen. The weights are 1 / pick.
/// @param portfolio  the returns, and `pick`
/// @param chosen  [asset] 0 or 1
KILN_API PortfolioValue portfolio_value(const Portfolio& portfolio,
                                        std::span<const std::int8_t> chosen);

/// Reads a table of returns: a row for each period, a column for each asset, whose first row has
/// names. A first column of text names the periods.
/// @param in  the text, not compressed
/// @param file_name  only for messages
/// @param ignore  names of columns that are no assets
/// @throws ParseError with line, column and the names of row and column for cells without a finite
///   number and repeated names; InvalidArgument `table.column`; IoError `io.read`.
KILN_API Portfolio read_portfolio(std::istream& in, const std::string& file_name,
                                  const std::vector<std::string>& ignore = {});

/// Makes the problem `portfolio:FILE` with its options by name: pick, risk, ignore.
/// @throws as above; InvalidArgument `problem.parameters` without a file or `pick`; IoError.
KILN_API Problem portfolio_by_name(const std::string& file, const ProblemSettings& settings);

}  // namespace problems
}  // namespace kiln
