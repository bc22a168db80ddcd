// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The choice of assets: the problem, its table, and its name.
#include "kiln/problems/portfolio.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/problems/pairwise.hpp"

#include "choices/checks.hpp"
#include "expensive/settings.hpp"
#include "readers/text_reader.hpp"
#include "tables/named_matrix.hpp"

namespace kiln {
namespace {

using problems::portfolio_value;
using problems::PortfolioModel;
using problems::PortfolioValue;

std::span<const std::int8_t> chosen_of(StateSpan state) {
  return std::get<std::span<const std::int8_t>>(state.front());
}

std::int64_t number_of(std::span<const std::int8_t> chosen) {
  std::int64_t number = 0;
  for (const std::int8_t one : chosen) number += one;
  return number;
}

std::string fingerprint_of_portfolio(const Portfolio& portfolio) {
  problems::detail::Sha256 hash;
  problems::detail::add_to(hash, portfolio.assets);
  problems::detail::add_to(hash, portfolio.returns);
  problems::detail::add_to(hash, {static_cast<double>(portfolio.pick), portfolio.risk});
  return hash.hex().substr(0, 16);
}

void describe_portfolio(Problem& problem, const std::shared_ptr<const Portfolio>& portfolio) {
  problem.solution.verify = [portfolio](StateSpan state) {
    return portfolio_value(*portfolio, chosen_of(state)).value;
  };
  problem.solution.constraint_values = [portfolio](StateSpan state) {
    const std::int64_t difference = number_of(chosen_of(state)) - portfolio->pick;
    return std::vector<double>{static_cast<double>(std::abs(difference))};
  };
  problem.solution.named_values = [portfolio](StateSpan state) {
    const std::span<const std::int8_t> chosen = chosen_of(state);
    const PortfolioValue value = portfolio_value(*portfolio, chosen);
    std::string names;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] != 0) names += (names.empty() ? "" : ", ") + portfolio->assets[i];
    }
    return std::vector<std::pair<std::string, std::string>>{
        {"assets", names},
        {"chosen", fmt::format("{} of {}", number_of(chosen), chosen.size())},
        {"mean return", fmt::format("{:.6g}", value.mean)},
        {"variance", fmt::format("{:.6g}", value.variance)},
        {"standard deviation", fmt::format("{:.6g}", std::sqrt(value.variance))}};
  };
  problem.solution.format = [portfolio](StateSpan state) {
    std::string text;
    const std::span<const std::int8_t> chosen = chosen_of(state);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      text += fmt::format("{}  # {}\n", static_cast<int>(chosen[i]),
                          problems::detail::in_one_line(portfolio->assets[i]));
    }
    return text;
  };
}

}  // namespace

Problem make_portfolio(Portfolio portfolio, std::string name) {
  PortfolioModel model = problems::portfolio_model(portfolio);
  Problem problem = make_qubo(std::move(model.qubo), Sense::minimize, std::move(name));
  problem.identity.family = "portfolio";
  problem.identity.sizes = {{"assets", std::to_string(portfolio.assets.size())},
                            {"periods", std::to_string(portfolio.periods)},
                            {"pick", std::to_string(portfolio.pick)}};
  problem.identity.fingerprint = fingerprint_of_portfolio(portfolio);
  problem.units.integral = false;
  problem.units.rounding += model.rounding;
  problem.known = {};
  describe_portfolio(problem, std::make_shared<const Portfolio>(std::move(portfolio)));
  return problem;
}

namespace problems {
namespace {

Portfolio portfolio_of(detail::NamedMatrix&& matrix, const std::string& file_name) {
  if (matrix.columns.empty()) {
    throw ParseError(file_name,
                     {{1, 0, "the first row has no names", "a first row with the names of assets"}},
                     1);
  }
  return {std::move(matrix.columns), matrix.n_rows, std::move(matrix.values)};
}

std::int64_t pick_of(const ProblemSettings& settings, const std::string& file) {
  const std::string text = detail::setting_or(settings, "pick", "");
  if (text.empty()) {
    throw InvalidArgument(
        "problem.parameters",
        "'portfolio:" + detail::printable(file) + "' does not say how many assets are picked",
        "--pick N", "kiln solve portfolio:" + detail::printable(file) + " --pick 10");
  }
  return kiln::detail::parse_integer(text, "pick");
}

}  // namespace

Portfolio read_portfolio(std::istream& in, const std::string& file_name,
                         const std::vector<std::string>& ignore) {
  return portfolio_of(detail::read_named_matrix(in, file_name, {ignore, false}), file_name);
}

Problem portfolio_by_name(const std::string& file, const ProblemSettings& settings) {
  if (file.empty()) {
    throw InvalidArgument(
        "problem.parameters", "'portfolio:' does not have the form portfolio:FILE",
        "a table of returns with a row for each period and a column for each asset",
        "kiln solve portfolio:returns.csv --pick 10");
  }
  if (detail::sense_of(settings, Sense::minimize) == Sense::maximize) {
    throw InvalidArgument(
        "problem.sense",
        "the value of a portfolio is risk times variance minus mean return, and is "
        "minimised",
        {}, Fix::keep_sense("maximize"));
  }
  const std::int64_t pick = pick_of(settings, file);
  const std::string risk = detail::setting_or(settings, "risk", "1");
  const double aversion = kiln::detail::parse_real(risk, "risk");
  Portfolio portfolio = portfolio_of(
      detail::load_named_matrix(file, {detail::list_of(settings, "ignore"), false}), file);
  portfolio.pick = pick;
  portfolio.risk = aversion;
  return make_portfolio(std::move(portfolio), "portfolio:" + file);
}

}  // namespace problems
}  // namespace kiln
