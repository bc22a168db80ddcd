// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "output/text.hpp"
#include "report/chart.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t max_summary_rows = 100;

std::string cell(const Json& one, const std::string& name, const char* field, const char* form) {
  const auto value = number_at(one, {field});
  if (!value) return "-";
  return data_html(fmt::format("summary.{}.{}", html(name), field), *value,
                   fmt::format(fmt::runtime(form), *value));
}

// Limits of Vehtari et al. (2021): R-hat below 1.01, 400 effective draws.
std::string marked(bool bad, const std::string& text) {
  return bad ? "<span class=\"bad\">" + text + "</span>" : text;
}

std::string summary_table(const Json& summary) {
  std::vector<std::vector<std::string>> rows{
      {"quantity", "mean", "sd", "5 %", "50 %", "95 %", "bulk ESS", "tail ESS", "R-hat"}};
  for (std::size_t i = 0; i < std::min(summary.size(), max_summary_rows); ++i) {
    const Json& one = summary[i];
    const std::string name = text_at(one, {"name"}).value_or("?");
    const auto ess = [&](const char* field) {
      return marked(number_at(one, {field}).value_or(0) < 400, cell(one, name, field, "{:.0f}"));
    };
    rows.push_back({html(name), cell(one, name, "mean", "{:.5g}"), cell(one, name, "sd", "{:.4g}"),
                    cell(one, name, "q05", "{:.5g}"), cell(one, name, "q50", "{:.5g}"),
                    cell(one, name, "q95", "{:.5g}"), ess("ess_bulk"), ess("ess_tail"),
                    marked(!(number_at(one, {"r_hat"}).value_or(not_known) <= 1.01),
                           cell(one, name, "r_hat", "{:.4f}"))});
  }
  std::string text = table_html(rows, 1);
  if (summary.size() > max_summary_rows) {
    text += fmt::format("<p class=\"note\">summary.csv has {} more quantities.</p>\n",
                        summary.size() - max_summary_rows);
  }
  return text;
}

std::string histogram_chart(const QuantityDraws& one) {
  Chart chart(one.name, {one.name}, {"draws", false, 0});
  const double bin = (one.high - one.low) / static_cast<double>(one.counts.size());
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < one.counts.size(); ++i) {
    const double center = one.low + (static_cast<double>(i) + 0.5) * bin;
    points.push_back({center, static_cast<double>(one.counts[i])});
    chart.tip(points.back(), fmt::format("{:.4g} to {:.4g}\n{} draws", center - bin / 2,
                                         center + bin / 2, one.counts[i]));
  }
  if (bin > 0) {
    chart.bars({"", 1}, points, bin);
  } else {
    chart.dots({"", 1}, {points.front()});
  }
  chart.attributes(fmt::format(
      "data-name=\"{}\" data-low=\"{}\" data-high=\"{}\" data-counts=\"{}\" data-outside=\"{}\"",
      html(one.name), one.low, one.high, fmt::join(one.counts, ","),
      one.below + one.above + one.not_finite));
  if (one.below + one.above + one.not_finite > 0) {
    chart.caption(fmt::format("{} draws lie outside.", one.below + one.above + one.not_finite));
  }
  return chart.figure();
}

std::string rank_chart(const QuantityDraws& one, std::int64_t ranked) {
  if (one.ranks.empty()) return {};
  Chart chart("Ranks of " + one.name, {"rank among the draws of all chains, in twentieths"},
              {"draws of a chain", false, 0});
  const auto draws = std::reduce(one.ranks.front().begin(), one.ranks.front().end());
  const double expected = static_cast<double>(draws) / static_cast<double>(rank_bins);
  std::string rows;
  // The chain farthest from uniform last, so that it lies on top.
  for (std::size_t i = one.ranks.size(); i-- > 0;) {
    std::vector<ChartPoint> steps;
    for (std::size_t b = 0; b < one.ranks[i].size(); ++b) {
      steps.push_back({static_cast<double>(b), static_cast<double>(one.ranks[i][b])});
    }
    chart.steps({"", i == 0 ? 0 : 6, i != 0}, steps, static_cast<double>(rank_bins));
    rows = fmt::format("{}:{}{}{}", one.rank_chains[i], fmt::join(one.ranks[i], ","),
                       rows.empty() ? "" : ";", rows);
  }
  chart.rule("", expected);
  chart.attributes(fmt::format("data-name=\"{}\" data-ranks=\"{}\"", html(one.name), rows));
  const bool all = static_cast<std::int64_t>(one.ranks.size()) == ranked;
  chart.caption(
      fmt::format("{}; coloured: chain {}, the least uniform. Dashed: {:.4g} draws in each.",
                  all ? fmt::format("All {} chains", ranked)
                      : fmt::format("The {} least uniform of {} chains", one.ranks.size(), ranked),
                  one.rank_chains.front() + 1, expected));
  return chart.figure();
}

std::string draws_note(const DrawsFile& draws) {
  std::string text = fmt::format("draws.npy has {} chains of {} draws.", draws.chains, draws.draws);
  if (draws.stride > 1) {
    text += fmt::format(" The histograms have one draw in {} of each chain.", draws.stride);
  }
  if (draws.rank_stride > 1 || draws.ranked_chains < draws.chains) {
    text += fmt::format(" The ranks are among one draw in {} of {} chains.", draws.rank_stride,
                        draws.ranked_chains);
  }
  if (draws.quantities > static_cast<std::int64_t>(draws.all.size())) {
    text += fmt::format(" The first {} of {} quantities are shown.", draws.all.size(),
                        draws.quantities);
  }
  return "<p class=\"note\">" + text +
         " Chains that agree have flat ranks: each of their draws is as likely to have one rank as "
         "another.</p>\n";
}

}  // namespace

std::string posterior_html(const RunFiles& files) {
  const Json& summary = member_at(files.result, {"summary"});
  if (!summary.is_array() || summary.empty()) return {};
  std::string text = summary_table(summary);
  if (!files.draws) return text;
  std::vector<std::string> figures;
  for (const QuantityDraws& one : files.draws->all) {
    figures.push_back(histogram_chart(one));
    figures.push_back(rank_chart(one, files.draws->ranked_chains));
  }
  return text + draws_note(*files.draws) + figures_html(figures);
}

}  // namespace kiln::cli
