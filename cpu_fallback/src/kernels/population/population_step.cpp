// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/population_step.hpp"

#include <algorithm>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

using Part = PopulationStep::Part;

// The tree of the header over 256 lanes; the sum is left in the first.
void add_lanes(int pass, std::vector<Part>& lane) {
  for (std::size_t half = 16; half > 0; half /= 2) {
    for (std::size_t run = 0; run < lane.size(); run += 32) {
      for (std::size_t t = run; t < run + half; ++t) {
        PopulationStep::combine(pass, lane[t], lane[t + half]);
      }
    }
  }
  for (std::size_t half = lane.size() / 2; half >= 32; half /= 2) {
    for (std::size_t t = 0; t < half; t += 32) {
      PopulationStep::combine(pass, lane[t], lane[t + half]);
    }
  }
}

std::vector<Part> cleared_lanes(int pass) {
  std::vector<Part> lane(PopulationStep::lanes);
  for (Part& part : lane) PopulationStep::clear(pass, part);
  return lane;
}

void add_part(const PopulationStep& kernel, int pass, std::int64_t group, std::int64_t part) {
  std::vector<Part> lane = cleared_lanes(pass);
  const std::int64_t begin = part * PopulationStep::part_size;
  const std::int64_t end = std::min(begin + PopulationStep::part_size, kernel.group_size);
  for (std::int64_t r = begin; r < end; ++r) {
    kernel.take(pass, kernel.populations[group], kernel.choice[0], group * kernel.group_size + r,
                lane[static_cast<std::size_t>((r - begin) % PopulationStep::lanes)]);
  }
  add_lanes(pass, lane);
  const std::int64_t at = group * PopulationStep::parts_of(kernel.group_size) + part;
  PopulationStep::copy(pass, kernel.parts[at], lane.front());
}

Part sum_of_parts(const PopulationStep& kernel, int pass, std::int64_t first, std::int64_t n) {
  std::vector<Part> lane = cleared_lanes(pass);
  for (std::int64_t part = 0; part < n; ++part) {
    PopulationStep::combine(pass, lane[static_cast<std::size_t>(part % PopulationStep::lanes)],
                            kernel.parts[first + part]);
  }
  add_lanes(pass, lane);
  return lane.front();
}

}  // namespace

template <>
void launch(const PopulationStep& kernel, Queue& queue) {
  const std::int64_t groups = kernel.populations.size;
  for (std::int64_t group = 0; group < groups && !kernel.opening; ++group) kernel.open(group);
  if (groups <= 0 || kernel.group_size <= 0 || !kernel.whole()) return;
  const std::int64_t n_parts = PopulationStep::parts_of(kernel.group_size);
  const int first = kernel.opening ? PopulationStep::admit : PopulationStep::look;
  const int end = kernel.opening ? first + 1 : PopulationStep::n_passes;
  for (int pass = first; pass < end; ++pass) {
    pool_of(queue).for_each(groups * n_parts, [&](std::int64_t at) {
      add_part(kernel, pass, at / n_parts, at % n_parts);
    });
    if (PopulationStep::concludes(pass)) {
      pool_of(queue).for_each(groups, [&](std::int64_t group) {
        kernel.conclude(pass, group, sum_of_parts(kernel, pass, group * n_parts, n_parts));
      });
    }
    if (PopulationStep::chooses(pass)) {
      kernel.choose(pass, sum_of_parts(kernel, pass, 0, groups * n_parts));
    }
  }
}

}  // namespace kiln::cpu
