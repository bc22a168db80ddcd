// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/staged_sites.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "kiln/kernels/sweeps/draw_naming.hpp"

#include "pairwise/group_rows.hpp"
#include "pairwise/plan_rows.hpp"

namespace kiln::problems {
namespace {

// Two words of so many variables are all that fast memory holds.
constexpr std::int32_t max_variables = 1 << 15;
// Sites that a block takes at once, by its words: 16 warps of four or of eight.
constexpr std::array<std::size_t, 2> rounds = {128, 64};
constexpr std::size_t banks = 8;

using Stages = std::vector<std::vector<std::uint32_t>>;  // sites

std::size_t rounds_of(const Stages& stages) {
  std::size_t n = 0;
  for (const auto& stage : stages) n += (stage.size() + rounds.back() - 1) / rounds.back();
  return n;
}

class Staging {
 public:
  explicit Staging(const PairwisePlan& plan)
      : plan_(plan), class_of_(plan.variable.size(), -1), latest_(plan.variable.size()) {
    for (std::int32_t c = 0; c < plan.n_classes; ++c) {
      std::vector<std::uint32_t> sites;
      const std::int32_t end = 4 * plan.class_begin[static_cast<std::size_t>(c) + 1];
      for (std::int32_t s = 4 * plan.class_begin[static_cast<std::size_t>(c)]; s < end; ++s) {
        const auto site = static_cast<std::size_t>(s);
        if (plan.variable[site] < 0) continue;
        class_of_[site] = c;
        sites.push_back(static_cast<std::uint32_t>(s));
      }
      classes_.push_back(std::move(sites));
    }
  }

  Stages build() {
    find_latest();
    Stages stages = schedule();
    // Where nothing is gained sites stay in their order.
    return rounds_of(stages) < rounds_of(classes_) ? std::move(stages) : std::move(classes_);
  }

 private:
  // Calls visit(neighbour) for those of other classes, later or earlier ones.
  template <class Visit>
  void for_neighbors(std::size_t site, bool later, const Visit& visit) const {
    for (const PairEntry& entry : row_of(plan_, site)) {
      if (entry.weight == 0) continue;
      const std::int32_t other = class_of_[entry.site];
      if (later ? other > class_of_[site] : other < class_of_[site]) visit(entry.site);
    }
  }

  // The last stage that leaves one to each later site of a chain.
  void find_latest() {
    for (std::size_t site = class_of_.size(); site-- > 0;) {
      latest_[site] = plan_.n_classes - 1;
      for_neighbors(site, true, [&](std::size_t other) {
        latest_[site] = std::min(latest_[site], latest_[other] - 1);
      });
    }
  }

  // How many of these sites, by urgency, a stage takes.
  std::size_t taken(const std::vector<std::uint32_t>& sites, std::int32_t stage) const {
    const auto urgent = static_cast<std::size_t>(
        std::ranges::find_if(sites, [&](std::uint32_t site) { return latest_[site] > stage; }) -
        sites.begin());
    for (const std::size_t round : rounds) {
      const std::size_t whole = sites.size() / round * round;
      if (whole >= urgent) return whole;
    }
    return sites.size();
  }

  Stages schedule() const {
    std::vector<std::int32_t> waits(class_of_.size(), 0);  // for so many earlier neighbours
    std::vector<std::uint32_t> free;
    for (std::size_t site = 0; site < class_of_.size(); ++site) {
      for_neighbors(site, false, [&](std::size_t) { ++waits[site]; });
      if (class_of_[site] >= 0 && waits[site] == 0)
        free.push_back(static_cast<std::uint32_t>(site));
    }
    Stages stages;
    for (std::int32_t stage = 0; stage < plan_.n_classes; ++stage) {
      std::ranges::sort(free, {},
                        [&](std::uint32_t site) { return std::pair(latest_[site], site); });
      const auto end = free.begin() + static_cast<std::ptrdiff_t>(taken(free, stage));
      std::vector<std::uint32_t> sites(free.begin(), end);
      free.erase(free.begin(), end);
      for (const std::uint32_t site : sites) {
        for_neighbors(site, true, [&](std::size_t other) {
          if (--waits[other] == 0) free.push_back(static_cast<std::uint32_t>(other));
        });
      }
      stages.push_back(std::move(sites));
    }
    return stages;
  }

  const PairwisePlan& plan_;
  std::vector<std::int32_t> class_of_, latest_;
  Stages classes_;
};

// A warp takes the same places of each round. So that it gets long rows in one and short rows in
// the next, half of the rounds are turned, with 64 places a round as well as with 128.
void turn_rounds(std::vector<std::uint32_t>& ordered) {
  constexpr std::size_t round = rounds.back();
  for (std::size_t i = 0; (i + 1) * round <= ordered.size(); ++i) {
    if (i % 4 == 0 || i % 4 == 3) continue;
    for (std::size_t low = i * round, high = low + round - banks; low < high;
         low += banks, high -= banks) {
      std::swap_ranges(ordered.begin() + static_cast<std::ptrdiff_t>(low),
                       ordered.begin() + static_cast<std::ptrdiff_t>(low + banks),
                       ordered.begin() + static_cast<std::ptrdiff_t>(high));
    }
  }
}

// Long rows first, so that lanes of a warp have rows of like lengths. The terms of sites that
// differ modulo 2, 4 or 8 lie in different banks, place by place (TermOrder), so sites that follow
// each other should.
std::vector<std::uint32_t> order_stage(const std::vector<std::uint32_t>& sites,
                                       const GroupRows& rows) {
  std::array<std::vector<std::uint32_t>, banks> left;  // short rows first
  for (const std::uint32_t site : sites) left[site % banks].push_back(site);
  for (std::vector<std::uint32_t>& bank : left) {
    std::ranges::sort(bank, {}, [&](std::uint32_t site) {
      const GroupSite& row = rows.sites[site];
      return std::tuple(row.n_negative + row.n_positive, row.n_negative, ~site);
    });
  }
  std::vector<std::uint32_t> ordered;
  for (std::size_t place = 0; place < sites.size(); ++place) {
    const std::size_t wanted = place % banks;
    std::vector<std::uint32_t>* from = nullptr;
    for (const std::size_t bank : {wanted, wanted ^ 4, wanted ^ 2, wanted ^ 6}) {
      if (from == nullptr && !left[bank].empty()) from = &left[bank];
    }
    if (from == nullptr)
      from = &*std::ranges::max_element(left, {}, &std::vector<std::uint32_t>::size);
    ordered.push_back(from->back());
    from->pop_back();
  }
  turn_rounds(ordered);
  return ordered;
}

StagedSite staged(const GroupSite& row, std::uint32_t site) {
  StagedSite of;
  of.first_group = row.first_group;
  of.site = site;
  of.variable = row.variable;
  of.counts = std::uint32_t{row.n_negative} | std::uint32_t{row.n_positive} << 8 |
              static_cast<std::uint32_t>(row.start_and_even) << 16;
  return of;
}

}  // namespace

StagedSites staged_sites(const PairwisePlan& plan, const GroupRows& rows) {
  // Sums of at most 255 have no more groups of either sign.
  if (rows.sites.empty() || rows.max_sum > max_sum_of_planes || plan.n_variables > max_variables) {
    return {};
  }
  StagedSites all;
  all.begin.push_back(0);
  for (const std::vector<std::uint32_t>& stage : Staging(plan).build()) {
    for (const std::uint32_t site : order_stage(stage, rows)) {
      all.sites.push_back(staged(rows.sites[site], site));
    }
    all.begin.push_back(static_cast<std::int32_t>(all.sites.size()));
  }
  return all;
}

}  // namespace kiln::problems
