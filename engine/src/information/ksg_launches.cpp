// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "ksg_launches.hpp"

#include <algorithm>

#include "kiln/kernels/information/ksg_counts.hpp"
#include "kiln/kernels/information/ksg_neighbors.hpp"
#include "kiln/kernels/information/sorted_orders.hpp"
#include "kiln/kernels/information/surrogates.hpp"

#include "idx.hpp"

namespace kiln {
namespace {

// Memory for the problems of a chunk, bytes.
constexpr std::int64_t chunk_bytes = std::int64_t{256} << 20;

std::int64_t capacity_of(const KsgPlan& plan, std::int64_t n, bool local) {
  const std::int64_t doubles = plan.changing() + 1 + (plan.by_extents ? 2 : 0);
  const std::int64_t integers = 1 + (local ? plan.blocks() : 0);
  const std::int64_t fit = chunk_bytes / (n * (8 * doubles + 4 * integers));
  return std::clamp<std::int64_t>(fit, 1, std::ssize(plan.problems));
}

template <class T>
View2<T> rows_of(DeviceArray<T>& array, std::int64_t columns) {
  return {array.data(), columns > 0 ? array.size() / columns : 0, columns, columns};
}

}  // namespace

KsgLaunches::KsgLaunches(const KsgPlan& plan, const KsgInputs& inputs, std::int32_t k,
                         const std::vector<std::int32_t>& other_k, const SurrogatePlan& wish,
                         bool local, Queue& queue)
    : plan_(plan),
      inputs_(inputs),
      k_(k),
      other_k_(other_k),
      wish_(wish),
      queue_(queue),
      capacity_(capacity_of(plan, n(), local)),
      orders_(queue, plan.orders.size() * n()),
      axes_(queue, (plan.axes.size() + capacity_ * plan.changing()) * n()),
      radius_(queue, capacity_ * n()),
      sums_(queue, 2 * (std::ssize(plan.problems) + std::ssize(plan.tasks) * std::ssize(other_k))) {
  const bool has_surrogates = plan.problems.back().surrogate >= 0;
  if (has_surrogates) places_ = DeviceArray<std::int32_t>(queue, capacity_ * n());
  if (plan.by_extents) {
    extent_y_ = DeviceArray<double>(queue, capacity_ * n());
    extent_x_ = DeviceArray<double>(queue, capacity_ * n());
  }
  if (local) counts_ = DeviceArray<std::int32_t>(queue, capacity_ * plan.blocks() * n());
  if (!queue.on_cpu()) {
    // Permutations are sorted several at once.
    const std::int64_t at_once =
        has_surrogates ? std::min(capacity_, plan.problems.back().surrogate + 1) : 1;
    room_ = DeviceArray<std::uint8_t>(queue, SortedOrders::room_bytes(at_once * n()));
  }
  sums_.zero();
  sort();
  std::vector<EmbeddedAxis> fixed;
  for (const AxisInOrder& of : plan.axes.keys()) {
    fixed.push_back({of.axis.column, of.axis.lag, of.order, -1});
  }
  embed(fixed, rows_of(axes_, n()));
}

void KsgLaunches::embed(const std::vector<EmbeddedAxis>& axes, View2<double> target) {
  embedding_ = DeviceArray<EmbeddedAxis>(queue_, axes);
  DelayEmbedding kernel;
  kernel.series = inputs_.series;
  kernel.times = inputs_.times;
  kernel.embedding = embedding_.view();
  kernel.orders = {orders_.data(), plan_.orders.size(), n(), n()};
  kernel.surrogates = {places_.data(), capacity_, n(), n()};
  kernel.axes = target;
  queue_.launch(kernel);
}

void KsgLaunches::sort() {
  std::vector<EmbeddedAxis> keys;
  for (const InformationAxis& axis : plan_.orders.keys()) keys.push_back({axis.column, axis.lag});
  DeviceArray<double> values(queue_, std::ssize(keys) * n());
  embed(keys, rows_of(values, n()));
  SortedOrders kernel;
  kernel.values = {values.data(), std::ssize(keys), n(), n()};
  kernel.order = rows_of(orders_, n());
  kernel.room = room_.view();
  queue_.launch(kernel);
  queue_.wait();  // the values are freed
}

void KsgLaunches::draw(std::int64_t first, std::int64_t count) {
  const KsgProblem& begin = plan_.problems[idx(first)];
  const KsgProblem& last = plan_.problems[idx(first + count - 1)];
  if (begin.surrogate < 0) return;
  first_drawn_ = begin.surrogate;
  Surrogates kernel;
  kernel.places = {places_.data(), last.surrogate - begin.surrogate + 1, n(), n()};
  kernel.seed = inputs_.options.seed;
  kernel.first = first_surrogate_of(plan_.source(begin)) + begin.surrogate;
  kernel.kind = wish_.kind;
  kernel.closest = wish_.closest(n());
  kernel.room = room_.view();
  queue_.launch(kernel);
}

void KsgLaunches::embed_problems(std::int64_t first, std::int64_t count) {
  std::vector<EmbeddedAxis> axes;
  for (std::int64_t p = first; p < first + count; ++p) {
    const KsgProblem& problem = plan_.problems[idx(p)];
    const auto places =
        problem.surrogate < 0 ? -1 : static_cast<std::int32_t>(problem.surrogate - first_drawn_);
    for (const std::int32_t order : {plan_.order_of[problem.task], -1}) {
      if (order < 0 && !plan_.keeps_time) continue;
      for (const InformationAxis& axis : plan_.tasks[problem.task].x) {
        axes.push_back({axis.column, axis.lag, order, places});
      }
    }
  }
  const std::int64_t fixed = plan_.axes.size();
  embed(axes, {axes_.data() + fixed * n(), std::ssize(axes), n(), n()});
}

KsgPoints KsgLaunches::points(std::int64_t first, std::int64_t count) {
  std::vector<std::int32_t> rows, search, natural, order_of;
  for (std::int64_t p = first; p < first + count; ++p) {
    const std::size_t task = plan_.problems[idx(p)].task;
    const auto of_x = static_cast<std::int32_t>(plan_.axes.size() + (p - first) * plan_.changing());
    const auto append = [&](std::vector<std::int32_t>& to, const std::vector<std::int32_t>& known,
                            std::int32_t x) {
      to.insert(to.end(), known.begin(), known.end());
      for (std::int32_t d = 0; d < plan_.x; ++d) to.push_back(x + d);
    };
    append(rows, plan_.known[task], of_x);
    if (plan_.keeps_time) append(natural, plan_.natural[task], of_x + plan_.x);
    search.insert(search.end(), plan_.search[task].begin(), plan_.search[task].end());
    order_of.push_back(plan_.order_of[task]);
  }
  rows_ = DeviceArray<std::int32_t>(queue_, rows);
  search_ = DeviceArray<std::int32_t>(queue_, search);
  natural_ = DeviceArray<std::int32_t>(queue_, natural);
  order_of_ = DeviceArray<std::int32_t>(queue_, order_of);
  KsgPoints points;
  points.axes = {axes_.data(), axes_.size() / n(), n(), n()};
  points.rows = {rows_.data(), count, plan_.dims(), plan_.dims()};
  points.z = plan_.z;
  points.y = plan_.y;
  points.x = plan_.x;
  points.theiler = inputs_.options.theiler;
  points.orders = {orders_.data(), plan_.orders.size(), n(), n()};
  points.order_of = order_of_.view();
  points.times = inputs_.times;
  return points;
}

void KsgLaunches::search(const KsgPoints& points, std::int32_t k, std::int64_t first_sum) {
  const std::int64_t count = points.problems();
  KsgNeighbors neighbors;
  neighbors.points = points;
  neighbors.k = k;
  neighbors.radius = {radius_.data(), count, n(), n()};
  if (plan_.by_extents) {
    neighbors.extent_y = {extent_y_.data(), count, n(), n()};
    neighbors.extent_x = {extent_x_.data(), count, n(), n()};
  }
  queue_.launch(neighbors);
  KsgCounts counts;
  counts.points = points;
  counts.radius = {radius_.data(), count, n(), n()};
  if (plan_.by_extents) {
    counts.extent_y = {extent_y_.data(), count, n(), n()};
    counts.extent_x = {extent_x_.data(), count, n(), n()};
  }
  const std::int32_t searched = plan_.y + plan_.x;
  if (plan_.z == 0) counts.search = {search_.data(), count, searched, searched};
  if (plan_.keeps_time) counts.natural = {natural_.data(), count, plan_.dims(), plan_.dims()};
  counts.psi = inputs_.psi;
  counts.sums = {sums_.data() + 2 * first_sum, count, 2, 2};
  if (counts_.size() > 0) counts.counts = {counts_.data(), count * plan_.blocks(), n(), n()};
  queue_.launch(counts);
}

void KsgLaunches::run(std::int64_t first, std::int64_t count) {
  queue_.wait();  // for what reads the arrays of the chunk before
  draw(first, count);
  embed_problems(first, count);
  const KsgPoints of_chunk = points(first, count);
  const bool as_it_is = plan_.problems[idx(first)].surrogate < 0;
  std::int64_t sums = std::ssize(plan_.problems) + first;
  for (const std::int32_t k : other_k_) {
    if (as_it_is) search(of_chunk, k, sums);
    sums += std::ssize(plan_.tasks);
  }
  search(of_chunk, k_, first);  // the last, whose counts stay
}

std::vector<std::int32_t> KsgLaunches::counts(std::int64_t place) const {
  std::vector<std::int32_t> counts(idx(plan_.blocks() * n()));
  queue_.download(counts.data(), counts_.data() + place * plan_.blocks() * n(),
                  counts.size() * sizeof(std::int32_t));
  return counts;
}

std::vector<std::int32_t> KsgLaunches::order(std::size_t task) const {
  std::vector<std::int32_t> order(idx(n()));
  queue_.download(order.data(), orders_.data() + plan_.order_of[task] * n(),
                  order.size() * sizeof(std::int32_t));
  return order;
}

}  // namespace kiln
