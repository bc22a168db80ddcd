// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ksg_neighbors.hpp"

#include <algorithm>

#include "kernels/information/ksg_jobs.hpp"
#include "kernels/isa.hpp"
#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const KsgNeighbors& kernel, Queue& queue) {
  const KsgSearch& search = KILN_VARIANT_FOR_ISA(ksg_search);
  const KsgPoints& points = kernel.points;
  const std::int64_t n = points.n(), parts = parts_of(n);
  pool_of(queue).for_each(points.problems() * parts, [&](std::int64_t task) {
    const std::int64_t problem = task / parts;
    KsgNeighborsJob job;
    job.points = axes_of(points, points.rows, problem, 0, points.dims());
    job.z = points.z;
    job.y = points.y;
    job.k = kernel.k;
    job.begin = task % parts * points_per_part;
    job.end = std::min(n, job.begin + points_per_part);
    job.radius = &kernel.radius(problem, 0);
    if (kernel.extent_y.rows > 0) {
      job.extent_y = &kernel.extent_y(problem, 0);
      job.extent_x = &kernel.extent_x(problem, 0);
    }
    if (points.theiler > 0) {
      job.theiler = points.theiler;
      job.place = &points.orders(points.order_of[problem], 0);
      job.time = points.times.data;
    }
    search.neighbors(job);
  });
}

}  // namespace kiln::cpu
