// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/resample.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

Resample::Part& part_of(const Resample& kernel, std::int64_t group, std::int64_t r) {
  return kernel.parts[group * Resample::parts_of(kernel.group_size) + r / Resample::part_size];
}

// What is filled from where: sums over the replicas before, in one walk.
void choose_copies(const Resample& kernel, std::int64_t group, std::uint64_t total) {
  const std::int64_t first = group * kernel.group_size, replicas = kernel.group_size;
  const std::uint32_t word = kernel.word_of(group);
  std::uint64_t cumulated = 0;
  std::int64_t copies = 0, dead = 0;
  std::uint64_t rounding = 0, spread = 0;
  for (std::int64_t r = 0; r < replicas; ++r) {
    if (r % Resample::part_size == 0) part_of(kernel, group, r).dead = dead;
    cumulated += kernel.weight[first + r];
    kernel.copies_before[first + r] = static_cast<std::int32_t>(copies);
    kernel.extra_before[first + r] = static_cast<std::int32_t>(copies - (r - dead));
    const std::int64_t next = Resample::copies_up_to(cumulated, total, word, replicas);
    if (next == copies) kernel.source[first + r] = static_cast<std::int32_t>(dead++);
    copies = next;
    const double expected = Resample::expected_copies(kernel.weight[first + r], total, replicas);
    rounding += Resample::rounding_of(expected);
    spread += Resample::spread_of(expected);
  }
  kernel.totals[group].rounding += rounding;
  kernel.totals[group].spread += spread;
}

void count_families(const Resample& kernel, std::int64_t group) {
  const std::int64_t first = group * kernel.group_size;
  ResampleTotals& totals = kernel.totals[group];
  totals.families = 0;
  totals.family_squares = 0;
  totals.family_logs = 0;
  std::fill_n(kernel.members.data + first, kernel.group_size, 0u);
  for (std::int64_t r = 0; r < kernel.group_size; ++r) ++kernel.members[kernel.family[first + r]];
  for (std::int64_t r = 0; r < kernel.group_size; ++r) {
    const std::uint64_t n = kernel.members[first + r];
    totals.families += n > 0 ? 1 : 0;
    totals.family_squares += n * n;
    totals.family_logs += Resample::family_log(n);
  }
}

void resample(const Resample& kernel, std::int64_t group) {
  if (!kernel.takes(group)) return;
  const std::int64_t first = group * kernel.group_size;
  std::fill_n(kernel.source.data + first, kernel.group_size, -1);
  if (!kernel.whole()) return;
  std::uint64_t total = 0;
  for (std::int64_t r = 0; r < kernel.group_size; ++r) {
    if (r % Resample::part_size == 0) part_of(kernel, group, r).weight = total;
    total += kernel.weight[first + r];
    if (kernel.begins[group] != 0) kernel.family[first + r] = static_cast<std::int32_t>(first + r);
  }
  kernel.totals[group].weight = total;
  if (kernel.begins[group] != 0) kernel.totals[group].rounding = kernel.totals[group].spread = 0;
  if (total > 0) {
    choose_copies(kernel, group, total);
    for (std::int64_t r = 0; r < kernel.group_size; ++r) kernel.fill(group, first + r);
  }
  count_families(kernel, group);
}

}  // namespace

template <>
void launch(const Resample& kernel, Queue& queue) {
  if (kernel.group_size <= 0 || kernel.control->stop != DeviceStop::none) return;
  pool_of(queue).for_each(kernel.totals.size, [&](std::int64_t group) { resample(kernel, group); });
}

}  // namespace kiln::cpu
