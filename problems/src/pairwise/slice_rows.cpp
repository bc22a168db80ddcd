// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/slice_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "pairwise/plan_rows.hpp"

namespace kiln::problems {
namespace {

constexpr std::size_t max_run = (std::size_t{1} << 24) - 1;

// Runs of more than max_run terms count as one.
struct SliceCounts {
  std::uint64_t runs = 0, terms = 0;
};
SliceCounts counts_of(const PairwisePlan& plan) {
  SliceCounts counts;
  for (std::size_t site = 0; site < plan.variable.size(); ++site) {
    std::uint32_t planes[2] = {0, 0};  // by sign
    for (const PairEntry& entry : row_of(plan, site)) {
      planes[entry.weight < 0] |= size_of(entry);
      counts.terms += static_cast<std::uint64_t>(std::popcount(size_of(entry)));
    }
    counts.runs += static_cast<std::uint64_t>(std::popcount(planes[0]) + std::popcount(planes[1]));
  }
  return counts;
}

// Builds the rows one after the other.
class SliceBuilder {
 public:
  explicit SliceBuilder(const PairwisePlan& plan) : plan_(plan) {
    const SliceCounts counts = counts_of(plan);
    rows_.sites.reserve(plan.variable.size() + 1);
    rows_.runs.reserve(counts.runs);
    rows_.terms.reserve(counts.terms);
  }

  void add_row(std::size_t site) {
    SliceSite row;
    row.first_term = std::ssize(rows_.terms);
    row.first_run = std::ssize(rows_.runs);
    std::uint32_t sum = 0, planes = 0;
    for (const PairEntry& entry : row_of(plan_, site)) {
      sum += size_of(entry);
      planes |= size_of(entry);
    }
    for (int plane = 0; planes >> plane != 0; ++plane) {
      if ((planes >> plane & 1u) == 0) continue;
      add_terms(site, plane, false);
      add_terms(site, plane, true);
    }
    row.base = static_cast<std::int32_t>(plan_.field[site]) + static_cast<std::int32_t>(sum);
    row.n_runs = static_cast<std::int16_t>(std::ssize(rows_.runs) - row.first_run);
    row.n_planes = static_cast<std::int16_t>(std::bit_width(sum));
    rows_.sites.push_back(row);
    const auto local = std::abs(plan_.field[site]) + static_cast<double>(sum);
    rows_.max_local = std::max(rows_.max_local, static_cast<std::int32_t>(local));
  }

  SliceRows take() {
    SliceSite end;
    end.first_term = std::ssize(rows_.terms);
    end.first_run = std::ssize(rows_.runs);
    rows_.sites.push_back(end);
    return std::move(rows_);
  }

 private:
  // The neighbours whose couplings have this sign and this bit.
  void add_terms(std::size_t site, int plane, bool negative) {
    const std::size_t begin = rows_.terms.size();
    for (const PairEntry& entry : row_of(plan_, site)) {
      const bool has_bit = (size_of(entry) >> plane & 1u) != 0;
      if (has_bit && (entry.weight < 0) == negative) rows_.terms.push_back(entry.site);
    }
    for (std::size_t left = rows_.terms.size() - begin; left > 0;) {
      const std::size_t n_terms = std::min(left, max_run);
      rows_.runs.push_back(slice_run_word({static_cast<std::uint32_t>(n_terms), plane, negative}));
      left -= n_terms;
    }
  }

  const PairwisePlan& plan_;
  SliceRows rows_;
};

}  // namespace

SliceRows slice_rows(const PairwisePlan& plan) {
  if (plan.arithmetic == Arithmetic::wide) return {};
  SliceBuilder builder(plan);
  for (std::size_t site = 0; site < plan.variable.size(); ++site) builder.add_row(site);
  return builder.take();
}

}  // namespace kiln::problems
