// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kiln/information/series_analysis.hpp"

#include "idx.hpp"
#include "information/series_values.hpp"

namespace kiln {
namespace {

// More values cost time that grows with their square if nothing changes.
constexpr std::int64_t max_blocks = 20000;

struct Noise {
  double autocorrelation = 0;
  double variance = 0;           // of the values
  double long_run_variance = 0;  // n times the variance of a mean of n values, for large n
  double time() const { return long_run_variance / variance; }
};

// Mean squares of the differences at a lag: of all, and without the fifth of them that is largest,
// as an estimate of the variance of normal differences. A change of the mean makes `lag` large
// ones.
struct Differences {
  double mean_square = 0, trimmed_variance = 0;
};

Differences differences_at(std::span<const double> values, std::size_t lag) {
  constexpr double share = 0.8;
  constexpr double of_normal = 0.437725;  // variance between the quantiles 0.1 and 0.9
  std::vector<double> squares;
  for (std::size_t t = lag; t < values.size(); ++t) {
    const double difference = values[t] - values[t - lag];
    squares.push_back(difference * difference);
  }
  std::ranges::sort(squares);
  const auto kept = static_cast<std::size_t>(share * static_cast<double>(squares.size()));
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    if (i < kept) sum += squares[i];
    all += squares[i];
  }
  return {all / static_cast<double>(squares.size()), sum / (static_cast<double>(kept) * of_normal)};
}

// Differences at lag k of an autoregression of order 1 have the variance 2 s^2 (1 - a^k). The
// coefficient is the one whose variances are the closest to those found, in squares of logarithms
// with s^2 free.
Noise noise_of(std::span<const double> values) {
  constexpr std::int64_t most_lags = 8, rows_per_lag = 10;
  constexpr int steps = 100;  // of the coefficient, by 0.01
  const auto rows = static_cast<std::int64_t>(values.size());
  const std::int64_t lags = std::clamp<std::int64_t>(rows / rows_per_lag, 2, most_lags);
  std::vector<double> logs;
  for (std::int64_t lag = 1; lag <= lags; ++lag) {
    const Differences differences = differences_at(values, idx(lag));
    Noise noise;  // values that seldom change: the changes are all that there is
    noise.variance = noise.long_run_variance = differences.mean_square / 2;
    if (!(differences.trimmed_variance > 0)) return noise;
    logs.push_back(std::log(differences.trimmed_variance / 2));
  }
  Noise best;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step < steps; ++step) {
    const double a = static_cast<double>(step) / steps;
    double sum = 0, squares = 0, power = a;
    for (const double log_variance : logs) {
      const double rest = log_variance - std::log(1 - power);
      sum += rest;
      squares += rest * rest;
      power *= a;
    }
    const double mean = sum / static_cast<double>(lags);
    const double distance = squares - mean * sum;
    if (!(distance < least)) continue;
    least = distance;
    best.autocorrelation = a;
    best.variance = std::exp(mean);
    best.long_run_variance = best.variance * (1 + a) / (1 - a);
  }
  return best;
}

// Costs of segments from running sums.
class Costs {
 public:
  Costs(std::span<const double> values, const Noise& noise, ChangeKind kind)
      : noise_(noise), kind_(kind), sum_(values.size() + 1), squares_(values.size() + 1) {
    const double center = moments_of(values).mean;
    for (std::size_t t = 0; t < values.size(); ++t) {
      const double x = values[t] - center;
      sum_[t + 1] = sum_[t] + x;
      squares_[t + 1] = squares_[t] + x * x;
    }
  }

  // Of the values from `begin` to before `end`.
  double operator()(std::int64_t begin, std::int64_t end) const {
    const auto n = static_cast<double>(end - begin);
    const double sum = sum_[idx(end)] - sum_[idx(begin)];
    const double about_mean =
        std::max(0.0, squares_[idx(end)] - squares_[idx(begin)] - sum * sum / n);
    if (kind_ == ChangeKind::mean) return about_mean / noise_.long_run_variance;
    // Equal values would have a cost of minus infinity.
    constexpr double least_share = 1e-6;
    const double variance = std::max(about_mean / n, least_share * noise_.variance);
    return n * std::log(variance / noise_.variance) / noise_.time();
  }

 private:
  Noise noise_;
  ChangeKind kind_;
  std::vector<double> sum_, squares_;
};

// The ends of the segments before the last one whose total cost is least, with the penalty for
// each. A begin is given up when a later one is better for every end to come; the later one can be
// used only `shortest` rows after the comparison.
std::vector<std::int64_t> partition(const Costs& cost, std::int64_t n, std::int64_t shortest,
                                    double penalty) {
  struct Begin {
    std::int64_t row, given_up_at;
  };
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::vector<double> least(idx(n + 1), std::numeric_limits<double>::infinity());
  std::vector<std::int64_t> begin_of(idx(n + 1), 0);
  std::vector<Begin> begins{{0, never}};
  least[0] = -penalty;
  for (std::int64_t end = shortest; end <= n; ++end) {
    const std::int64_t newest = end - shortest;
    if (newest >= shortest) begins.push_back({newest, never});
    std::erase_if(begins, [end](const Begin& begin) { return begin.given_up_at <= end; });
    for (const Begin& begin : begins) {
      const double total = least[idx(begin.row)] + cost(begin.row, end) + penalty;
      if (!(total < least[idx(end)])) continue;
      least[idx(end)] = total;
      begin_of[idx(end)] = begin.row;
    }
    for (Begin& begin : begins) {
      if (begin.given_up_at == never &&
          least[idx(begin.row)] + cost(begin.row, end) > least[idx(end)]) {
        begin.given_up_at = end + shortest;
      }
    }
  }
  std::vector<std::int64_t> ends;
  for (std::int64_t end = begin_of[idx(n)]; end > 0; end = begin_of[idx(end)]) ends.push_back(end);
  std::ranges::reverse(ends);
  return ends;
}

std::vector<double> means_of_blocks(std::span<const double> values, std::int64_t block) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin < values.size(); begin += idx(block)) {
    const std::size_t size = std::min(idx(block), values.size() - begin);
    means.push_back(moments_of(values.subspan(begin, size)).mean);
  }
  return means;
}

}  // namespace

ChangePoints find_change_points(std::span<const double> values, ChangeKind kind) {
  require_values(values, min_rows_of_changes, "a search for change points");
  const auto rows = static_cast<std::int64_t>(values.size());
  ChangePoints found;
  found.rows_per_block = (rows + max_blocks - 1) / max_blocks;
  const std::vector<double> blocks = means_of_blocks(values, found.rows_per_block);
  const Noise noise = noise_of(blocks);
  found.autocorrelation = noise.autocorrelation;
  if (!(noise.variance > 0)) return found;
  const bool of_mean = kind == ChangeKind::mean;
  const auto n = static_cast<std::int64_t>(blocks.size());
  const double penalty = (of_mean ? 3 : 4) * std::log(static_cast<double>(n));
  const std::vector<std::int64_t> ends =
      partition(Costs(blocks, noise, kind), n, of_mean ? 3 : 10, penalty);
  std::vector<std::int64_t> bounds{0};
  for (const std::int64_t end : ends) bounds.push_back(end * found.rows_per_block);
  bounds.push_back(rows);
  const auto segment = [&](std::size_t i) {
    return moments_of(values.subspan(idx(bounds[i]), idx(bounds[i + 1] - bounds[i])));
  };
  for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
    const Moments before = segment(i - 1), after = segment(i);
    found.changes.push_back(
        {bounds[i], before.mean, after.mean, before.deviation, after.deviation});
  }
  return found;
}

}  // namespace kiln
