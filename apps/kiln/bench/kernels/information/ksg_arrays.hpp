// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/device/rng_domains.hpp"
#include "kiln/kernels/information/ksg_counts.hpp"
#include "kiln/kernels/information/ksg_neighbors.hpp"
#include "kiln/queue.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {

/// Problems of uniform points for the kernels of nearest neighbours: all have the same y (and z),
/// and each a rotation of x, as surrogates of one link have.
struct KsgArrays {
  static constexpr std::int32_t k = 4;

  KsgArrays(Queue& queue, std::int64_t n_problems, std::int64_t points, bool with_condition)
      : problems(n_problems),
        n(points),
        condition(with_condition),
        axes(queue, values()),
        rows(queue, axes_of_problems()),
        search(queue, repeated(problems, {0, 1})),
        psi(queue, digamma()),
        radius(queue, problems * n),
        sums(queue, 2 * problems) {
    queue.launch(neighbors());
    sums.zero();
  }

  KsgNeighbors neighbors() {
    KsgNeighbors kernel;
    kernel.points = ksg_points();
    kernel.k = k;
    kernel.radius = matrix_of(radius, problems);
    return kernel;
  }
  KsgCounts counts() {
    KsgCounts kernel;
    kernel.points = ksg_points();
    kernel.radius = table_of(radius, problems);
    if (!condition) kernel.search = table_of(search, problems);
    kernel.psi = psi.view();
    kernel.sums = matrix_of(sums, problems);
    return kernel;
  }
  static std::string shape_of(std::int64_t problem_count, std::int64_t points_of_each,
                              bool with_condition) {
    return (problem_count > 1 ? std::to_string(problem_count) + " problems of " : "") +
           std::to_string(points_of_each) +
           (with_condition ? " points, 3 coordinates" : " points, 2 coordinates");
  }
  double points() const { return static_cast<double>(problems * n); }
  double bytes() const { return static_cast<double>(axes.bytes() + radius.bytes()); }

  std::int64_t problems, n;
  bool condition;
  DeviceArray<double> axes;
  DeviceArray<std::int32_t> rows, search;
  DeviceArray<std::int64_t> psi;
  DeviceArray<double> radius;
  DeviceArray<std::int64_t> sums;

 private:
  KsgPoints ksg_points() {
    KsgPoints all;
    all.axes = table_of(axes, problems + 2);
    all.rows = table_of(rows, problems);
    all.z = condition ? 1 : 0;
    return all;
  }
  std::vector<double> uniform(std::uint64_t column) const {
    const DrawName name{1, column, 0, RngDomain::initial_state, 0};
    std::vector<double> all;
    for (std::int64_t i = 0; i < n; ++i) {
      all.push_back(open_unit(draw_word(name, static_cast<std::uint32_t>(i))));
    }
    return all;
  }
  // Axis 0 is the first coordinate in order. Axis 1 is y, or without a condition x in order.
  std::vector<double> values() const {
    std::vector<double> all = uniform(0), x = uniform(2);
    std::ranges::sort(all);
    std::vector<double> second = condition ? uniform(1) : x;
    if (!condition) std::ranges::sort(second);
    all.insert(all.end(), second.begin(), second.end());
    for (std::int64_t p = 0; p < problems; ++p) {
      all.insert(all.end(), x.begin(), x.end());
      std::ranges::rotate(x, x.begin() + 1);
    }
    return all;
  }
  std::vector<std::int32_t> axes_of_problems() const {
    std::vector<std::int32_t> all;
    for (std::int64_t p = 0; p < problems; ++p) {
      all.push_back(0);
      if (condition) all.push_back(1);
      all.push_back(static_cast<std::int32_t>(p + 2));
    }
    return all;
  }
  static std::vector<std::int32_t> repeated(std::int64_t count, std::vector<std::int32_t> row) {
    std::vector<std::int32_t> all;
    for (std::int64_t i = 0; i < count; ++i) all.insert(all.end(), row.begin(), row.end());
    return all;
  }
  std::vector<std::int64_t> digamma() const {
    std::vector<std::int64_t> all;
    double psi_of = -0.57721566490153286;
    for (std::int64_t i = 0; i <= n; ++i) {
      all.push_back(static_cast<std::int64_t>(psi_of * 0x1p36));
      psi_of += 1 / static_cast<double>(i + 1);
    }
    return all;
  }
};

/// The cases of a kernel of nearest neighbours. launch(queue, arrays) enqueues it.
template <class Launch>
std::vector<KernelCase> ksg_cases(const Launch& launch) {
  std::vector<KernelCase> cases;
  const auto add = [&](std::int64_t problems, std::int64_t n, bool condition) {
    const auto prepare = [=](BenchContext& context) -> PreparedKernel {
      Queue& queue = context.queue();
      const auto data = std::make_shared<KsgArrays>(queue, problems, n, condition);
      PreparedKernel prepared;
      prepared.launches = {[=, &queue](std::uint32_t) { launch(queue, *data); },
                           [=] { data->sums.zero(); }, 50};
      prepared.bytes = data->bytes();
      prepared.points = data->points();
      return prepared;
    };
    cases.push_back({KsgArrays::shape_of(problems, n, condition), prepare});
  };
  add(1, 10000, true);
  add(200, 10000, true);
  add(200, 10000, false);
  add(1, 100000, true);
  add(4096, 2000, true);
  return cases;
}

}  // namespace kiln::cli
