// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "stepping_stones.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln::ladder {
namespace {

constexpr double no_estimate = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t min_cells = 4;

double log_mean(const ExpSum& sum, std::uint64_t count) {
  if (count == 0 || !(sum.value > 0)) return no_estimate;
  return std::log(sum.value) + sum.scale - std::log(static_cast<double>(count));
}

// log Z of the rung above a gap less that of the rung below.
double step_of(const Stones& stones, double width, const RungSums& hot, const RungSums& cold) {
  const double reference = (hot.weighed_reference + cold.weighed_reference) / 2;
  return log_mean(hot.forward, hot.count + hot.outside) - log_mean(cold.backward, cold.count) -
         width * (stones.offset + stones.factor * reference);
}

const RungCell& cell_of(const std::vector<RungCell>& cells, std::size_t rung, std::size_t j) {
  return cells[rung * LadderStatistics::cells_of_rung + j];
}

std::vector<RungSums> without(std::size_t left_out, std::vector<RungSums> sums,
                              const std::vector<RungCell>& cells) {
  for (std::size_t r = 0; r < sums.size(); ++r) {
    sums[r].forward = sums[r].backward = {0, 0};
    sums[r].count = sums[r].outside = 0;
    for (std::size_t j = 0; j < LadderStatistics::cells_of_rung; ++j) {
      if (j == left_out) continue;
      const RungCell& cell = cell_of(cells, r, j);
      sums[r].forward = ExpSum::add(sums[r].forward, cell.forward);
      sums[r].backward = ExpSum::add(sums[r].backward, cell.backward);
      sums[r].count += cell.count;
      sums[r].outside += cell.outside;
    }
  }
  return sums;
}

// Of neighbours in a series of mean about 0.
double correlation(const std::vector<double>& x) {
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += x[i] * x[i];
    if (i > 0) products += x[i] * x[i - 1];
  }
  return squares > 0 ? products / squares : 0;
}

}  // namespace

std::vector<double> log_z(const Stones& stones, const std::vector<RungSums>& sums) {
  std::vector<double> log_z = {0.0};
  for (std::size_t r = 0; r + 1 < sums.size(); ++r) {
    log_z.push_back(log_z.back() + step_of(stones, stones.width[r], sums[r], sums[r + 1]));
  }
  return log_z;
}

double log_z_error(const Stones& stones, const std::vector<RungSums>& sums,
                   const std::vector<RungCell>& cells, bool of_calls) {
  std::vector<double> size;       // of the cells that have counted
  std::vector<double> estimates;  // without each of them
  double all = 0;
  for (std::size_t j = 0; j < LadderStatistics::cells_of_rung; ++j) {
    double count = 0;
    for (std::size_t r = 0; r < sums.size(); ++r) {
      count += static_cast<double>(cell_of(cells, r, j).count);
    }
    all += count;
    if (count == 0) continue;
    size.push_back(count);
    estimates.push_back(log_z(stones, without(j, sums, cells)).back());
  }
  const double n = static_cast<double>(size.size()), whole = log_z(stones, sums).back();
  if (size.size() < min_cells) return no_estimate;
  double bias = 0;  // of the estimate from all, as the jackknife sees it
  for (std::size_t j = 0; j < size.size(); ++j) {
    bias += (1 - size[j] / all) * (estimates[j] - whole);
  }
  double variance = 0;
  std::vector<double> deviations;
  for (std::size_t j = 0; j < size.size(); ++j) {
    const double share = all / size[j];
    deviations.push_back(((share - 1) * (whole - estimates[j]) + bias) / std::sqrt(share - 1));
    variance += deviations.back() * deviations.back() / n;
  }
  const double rho = of_calls ? std::clamp(correlation(deviations), 0.0, 0.9) : 0.0;
  return std::sqrt(variance * (1 + rho) / (1 - rho));
}

}  // namespace kiln::ladder
