// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/information/pipeline.hpp"

#include <cmath>
#include <numeric>

#include "kiln/information/digamma.hpp"

namespace kiln::cli {
namespace {

constexpr std::int32_t source = 0, target = 1;
constexpr std::int32_t by_target = 0, by_source = 1;  // orders

std::vector<std::int32_t> counted_from(std::int32_t first, std::int64_t n) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

std::vector<double> joined(const std::vector<Series>& columns) {
  std::vector<double> all;
  for (const Series& column : columns) {
    all.insert(all.end(), column.values.begin(), column.values.end());
  }
  return all;
}

}  // namespace

InformationPipeline::InformationPipeline(Queue& queue, const std::vector<Series>& columns,
                                         bool transfer, std::int64_t surrogates)
    : queue_(queue),
      transfer_(transfer),
      n_(std::ssize(columns.front().values) - 1),
      problems_(1 + surrogates),
      series_(queue, joined(columns)),
      keys_(queue, (transfer ? 1 : 2) * n_),
      axes_(queue, (2 + problems_) * n_),
      radius_(queue, problems_ * n_),
      times_(queue, counted_from(1, n_)),
      orders_(queue, (transfer ? 1 : 2) * n_),
      places_(queue, surrogates * n_),
      room_(queue, queue.on_cpu()
                       ? 0
                       : SortedOrders::room_bytes(n_ * std::max<std::int64_t>(1, surrogates))),
      sums_(queue, 2 * problems_) {
  // Transfer entropy: z is the target's past, y the target, x the source's past. Axes 0 and 1 are z
  // and y, or y and the source in its own order; the axes of x follow.
  std::vector<EmbeddedAxis> of_orders{{target, transfer ? 1 : 0}};
  if (!transfer) of_orders.push_back({source, 0});
  std::vector<EmbeddedAxis> fixed{{target, transfer ? 1 : 0, by_target}};
  fixed.push_back(transfer ? EmbeddedAxis{target, 0, by_target}
                           : EmbeddedAxis{source, 0, by_source});
  std::vector<EmbeddedAxis> of_source;
  std::vector<std::int32_t> rows, search;
  for (std::int32_t p = 0; p < problems_; ++p) {
    of_source.push_back({source, transfer ? 1 : 0, by_target, p - 1});
    rows.push_back(0);
    if (transfer) rows.push_back(1);
    rows.push_back(2 + p);
    search.insert(search.end(), {0, 1});
  }
  order_axes_ = DeviceArray<EmbeddedAxis>(queue, of_orders);
  fixed_axes_ = DeviceArray<EmbeddedAxis>(queue, fixed);
  source_axes_ = DeviceArray<EmbeddedAxis>(queue, of_source);
  rows_ = DeviceArray<std::int32_t>(queue, rows);
  search_ = DeviceArray<std::int32_t>(queue, search);
  std::vector<std::int64_t> psi;
  for (const double value : digamma_of_integers(n_ + 1)) {
    psi.push_back(std::llround(std::ldexp(value, KsgCounts::fraction_bits)));
  }
  psi_ = DeviceArray<std::int64_t>(queue, psi);
}

void InformationPipeline::embed(const DeviceArray<EmbeddedAxis>& axes, View2<double> target_axes) {
  DelayEmbedding kernel;
  kernel.series = {series_.data(), 2, n_ + 1, n_ + 1};
  kernel.times = times_.view();
  kernel.embedding = axes.view();
  kernel.orders = {orders_.data(), orders_.size() / n_, n_, n_};
  kernel.surrogates = {places_.data(), problems_ - 1, n_, n_};
  kernel.axes = target_axes;
  queue_.launch(kernel);
}

void InformationPipeline::launch() {
  sums_.zero();
  const std::int64_t orders = order_axes_.size();
  embed(order_axes_, {keys_.data(), orders, n_, n_});
  SortedOrders sort;
  sort.values = {keys_.data(), orders, n_, n_};
  sort.order = {orders_.data(), orders, n_, n_};
  sort.room = room_.view();
  queue_.launch(sort);
  if (problems_ > 1) {
    Surrogates draw;
    draw.places = {places_.data(), problems_ - 1, n_, n_};
    draw.seed = 1;
    draw.room = room_.view();
    queue_.launch(draw);
  }
  embed(fixed_axes_, {axes_.data(), 2, n_, n_});
  embed(source_axes_, {axes_.data() + 2 * n_, problems_, n_, n_});
  const std::int32_t dims = transfer_ ? 3 : 2;
  KsgNeighbors neighbors;
  neighbors.points.axes = {axes_.data(), 2 + problems_, n_, n_};
  neighbors.points.rows = {rows_.data(), problems_, dims, dims};
  neighbors.points.z = transfer_ ? 1 : 0;
  neighbors.radius = {radius_.data(), problems_, n_, n_};
  queue_.launch(neighbors);
  KsgCounts counts;
  counts.points = neighbors.points;
  counts.radius = {radius_.data(), problems_, n_, n_};
  if (!transfer_) counts.search = {search_.data(), problems_, 2, 2};
  counts.psi = psi_.view();
  counts.sums = {sums_.data(), problems_, 2, 2};
  queue_.launch(counts);
}

double InformationPipeline::sum_of_values() {
  return std::ldexp(static_cast<double>(sums_.download().front()), -KsgCounts::fraction_bits);
}

}  // namespace kiln::cli
