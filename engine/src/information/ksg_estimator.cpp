// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "ksg_estimator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/information/digamma.hpp"
#include "kiln/kernels/information/ksg_counts.hpp"

#include "idx.hpp"
#include "ksg_launches.hpp"
#include "significance.hpp"

namespace kiln {
namespace {

double value_of(std::int64_t sum) {
  return std::ldexp(static_cast<double>(sum), -KsgCounts::fraction_bits);
}

// The value of each point, in the order of time.
std::vector<double> local_values(const KsgPlan& plan, const std::vector<std::int32_t>& counts,
                                 const std::vector<std::int32_t>& order,
                                 const std::vector<double>& psi, double constant) {
  const std::size_t n = order.size();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    // counts[block][i]; psi(count + 1), of extents psi(count).
    const auto term = [&](std::size_t block) {
      return psi[idx(counts[block * n + i] - (plan.by_extents ? 1 : 0))];
    };
    const double value = plan.z > 0 ? term(0) - term(1) - term(2) : -term(0) - term(1);
    values[idx(order[i])] = constant + value;
  }
  return values;
}

}  // namespace

KsgEstimator::KsgEstimator(const PreparedColumns& columns, const InformationOptions& options,
                           Backend& backend)
    : columns_(columns),
      options_(options),
      queue_(backend.make_queue()),
      n_(std::ssize(columns.times)) {
  if (n_ > KsgCounts::max_points) {
    throw InvalidArgument("information.rows",
                          fmt::format("{} rows are too many for nearest neighbours", n_),
                          fmt::format("at most {} rows", KsgCounts::max_points),
                          "keep fewer rows, for example every 10th");
  }
  psi_ = digamma_of_integers(n_ + 1);
  std::vector<std::int64_t> table;
  for (const double psi : psi_) {
    table.push_back(
        std::llround(psi * static_cast<double>(std::int64_t{1} << KsgCounts::fraction_bits)));
  }
  series_ = DeviceArray<double>(*queue_, columns.values);
  times_ = DeviceArray<std::int32_t>(*queue_, columns.times);
  psi_table_ = DeviceArray<std::int64_t>(*queue_, table);
  count_neighbors(options.theiler);
}

void KsgEstimator::count_neighbors(std::int32_t theiler) {
  const std::vector<std::int32_t>& times = columns_.times;
  fewest_ = n_;
  std::size_t low = 0, high = 0;  // rows near in time are low .. high - 1
  for (const std::int32_t time : times) {
    while (std::int64_t{time} - times[low] > theiler) ++low;
    while (high < times.size() && std::int64_t{times[high]} - time <= theiler) ++high;
    const std::int64_t others = n_ - static_cast<std::int64_t>(high - low);
    fewest_ = std::min(fewest_, others);
    mean_psi_ += psi_[idx(others)] / static_cast<double>(n_);
  }
}

void KsgEstimator::require_neighbors(std::int32_t k) const {
  if (n_ > 0 && fewest_ >= k) return;
  const std::int64_t near = 2 * std::int64_t{options_.theiler};
  const std::string apart =
      options_.theiler > 0 ? fmt::format(" more than {} rows apart", options_.theiler) : "";
  throw InvalidArgument(
      "information.rows", fmt::format("{} rows are too few for {} neighbours{}", n_, k, apart),
      fmt::format("at least {} rows without missing values", k + 1 + near),
      near == 0 && n_ > 1 ? fmt::format("at most {} neighbours", n_ - 1) : std::string());
}

KsgAnswer KsgEstimator::estimate(const std::vector<InformationTask>& tasks,
                                 const KsgRequest& request) {
  if (tasks.empty()) return {};
  require_neighbors(request.k);
  const KsgPlan plan(tasks, options_, request.surrogates.count_of(n_));
  const std::int64_t length = columns_.length;
  const auto columns = static_cast<std::int64_t>(columns_.constant.size());
  const KsgInputs inputs{
      {series_.data(), columns, length, length}, times_.view(), psi_table_.view(), options_};
  KsgLaunches launches(plan, inputs, request.k, request.other_k, request.surrogates, request.local,
                       *queue_);
  KsgAnswer answer{std::vector<InformationEstimate>(tasks.size()), {}};
  const double constant = constant_of(plan, request.k);
  for (std::int64_t first = 0, count = 0; first < std::ssize(plan.problems); first += count) {
    count = plan.run_length(first, launches.capacity());
    launches.run(first, count);
    if (!request.local || plan.problems[idx(first)].surrogate >= 0) continue;
    for (std::int64_t place = 0; place < count; ++place) {
      const std::size_t task = plan.problems[idx(first + place)].task;
      answer.estimates[task].local =
          local_values(plan, launches.counts(place), launches.order(task), psi_, constant);
    }
  }
  read_sums(plan, request, launches.sums(), answer);
  return answer;
}

double KsgEstimator::constant_of(const KsgPlan& plan, std::int32_t k) const {
  const double of_k = psi_[idx(k - 1)];
  if (plan.z > 0) return of_k;
  return of_k + mean_psi_ - (plan.by_extents ? 1.0 / k : 0.0);
}

void KsgEstimator::read_sums(const KsgPlan& plan, const KsgRequest& request,
                             const std::vector<std::int64_t>& sums, KsgAnswer& answer) const {
  const double constant = constant_of(plan, request.k);
  const auto n = static_cast<double>(n_);
  const std::size_t tasks = plan.tasks.size();
  std::vector<std::vector<double>> of_surrogates(tasks);
  for (std::size_t p = 0; p < plan.problems.size(); ++p) {
    const double mean = value_of(sums[2 * p]) / n;
    if (plan.problems[p].surrogate >= 0) {
      of_surrogates[plan.problems[p].task].push_back(constant + mean);
      continue;
    }
    InformationEstimate& estimate = answer.estimates[plan.problems[p].task];
    const double squares =
        std::ldexp(static_cast<double>(sums[2 * p + 1]), -KsgCounts::square_bits) / n;
    estimate.value = constant + mean;
    estimate.spread = std::sqrt(std::max(0.0, squares - mean * mean) / n);
    estimate.points = n_;
    estimate.k = request.k;
  }
  std::size_t sum = plan.problems.size();
  for (const std::int32_t k : request.other_k) {
    std::vector<double>& values = answer.of_other_k.emplace_back(tasks);
    for (std::size_t p = 0; p < tasks; ++p, ++sum) {
      values[plan.problems[p].task] = constant_of(plan, k) + value_of(sums[2 * sum]) / n;
    }
  }
  const SurrogateTail tail{.skewness = pooled_skewness(of_surrogates)};
  for (std::size_t i = 0; i < tasks; ++i) {
    compare_with_surrogates(of_surrogates[i], tail, answer.estimates[i]);
  }
}

}  // namespace kiln
