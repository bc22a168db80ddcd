// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/group_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "pairwise/plan_rows.hpp"

namespace kiln::problems {
namespace {

constexpr std::size_t group_size = 4;
constexpr std::size_t max_groups = std::numeric_limits<std::uint16_t>::max();
// Terms of a coupling, on average, up to which counting is worth it.
constexpr std::size_t max_terms_per_entry = 4;

bool is_worth_it(const PairwisePlan& plan) {
  if (plan.arithmetic == Arithmetic::wide) return false;
  if (plan.n_variables >= (std::int32_t{1} << group_plane_shift)) return false;
  std::size_t terms = 0, entries = 0;
  for (const PairEntry& entry : plan.entries) {
    terms += static_cast<std::size_t>(std::popcount(size_of(entry)));
    entries += entry.weight != 0;
  }
  return terms <= max_terms_per_entry * entries;
}

// Of two coupled sites the first has the coupling if their numbers differ by an odd number.
bool belongs(RowPart part, std::size_t site, const PairEntry& entry) {
  if (part == RowPart::whole) return true;
  const std::size_t other = entry.site;
  return ((site + other) % 2 == 1) == (site < other);
}

// All groups of a plan, so that the terms of nine million sites need no second copy.
std::size_t count_groups(const PairwisePlan& plan, RowPart part) {
  constexpr std::size_t n_planes = 32;
  std::array<std::size_t, 2 * n_planes> counts{};  // by plane and sign
  std::size_t groups = 0;
  for (std::size_t site = 0; site < plan.variable.size(); ++site) {
    for (const PairEntry& entry : row_of(plan, site)) {
      if (!belongs(part, site, entry)) continue;
      const std::size_t sign = entry.weight < 0 ? 1 : 0;
      for (std::uint32_t left = size_of(entry); left != 0; left &= left - 1) {
        const auto plane = static_cast<std::size_t>(std::countr_zero(left));
        // A term begins a group if it is the first of four.
        groups += counts[2 * plane + sign]++ % group_size == 0;
      }
    }
    for (const PairEntry& entry : row_of(plan, site)) {
      for (std::uint32_t left = size_of(entry); left != 0; left &= left - 1) {
        const auto plane = static_cast<std::size_t>(std::countr_zero(left));
        counts[2 * plane] = counts[2 * plane + 1] = 0;
      }
    }
  }
  return groups;
}

// Builds the rows one after the other.
class GroupBuilder {
 public:
  GroupBuilder(const PairwisePlan& plan, RowPart part) : plan_(plan), part_(part) {
    rows_.sites.reserve(plan.variable.size());
    rows_.terms.reserve(group_size * count_groups(plan, part));
  }

  // False if the row is too long.
  bool add_row(std::size_t site) {
    GroupSite row;
    row.variable = plan_.variable[site];
    std::uint32_t planes = 0;
    std::int64_t sum = 0, negative = 0;  // of couplings
    members_.clear();
    for (const PairEntry& entry : row_of(plan_, site)) {
      if (entry.weight == 0 || !belongs(part_, site, entry)) continue;
      const Member member{static_cast<std::uint32_t>(plan_.variable[entry.site]), size_of(entry),
                          entry.weight < 0};
      members_.push_back(member);
      planes |= member.size;
      sum += member.size;
      if (member.negative) negative += member.size;
    }
    const std::size_t first = rows_.terms.size() / group_size;
    const std::size_t n_negative = add_groups(planes, true);
    const std::size_t n_positive = add_groups(planes, false);
    const std::size_t end = rows_.terms.size() / group_size;
    if (std::max(n_negative, n_positive) > max_groups) return false;
    if (end > std::numeric_limits<std::uint32_t>::max()) return false;
    row.first_group = static_cast<std::uint32_t>(first);
    row.n_negative = static_cast<std::uint16_t>(n_negative);
    row.n_positive = static_cast<std::uint16_t>(n_positive);
    if (row.variable >= 0) describe_sum(site, sum, negative, row);
    rows_.one_plane = rows_.one_plane && planes <= 1;
    rows_.sites.push_back(row);
    return true;
  }

  GroupRows take() { return std::move(rows_); }

 private:
  // A field acts as a neighbour that is always up.
  void describe_sum(std::size_t site, std::int64_t sum, std::int64_t negative, GroupSite& row) {
    const auto field = static_cast<std::int64_t>(plan_.field[site]);
    const std::int64_t all = sum + std::abs(field);
    const std::int64_t even = all % 2 == 0 ? 1 : 0;
    const std::int64_t start = negative + (field < 0 ? -field : 0) - (all + even + 1) / 2;
    row.start_and_even = static_cast<std::int32_t>(2 * start + even);
    rows_.max_sum = std::max(rows_.max_sum, static_cast<std::int32_t>(all + even));
  }

  // The groups of the neighbours whose couplings have this sign.
  std::size_t add_groups(std::uint32_t planes, bool negative) {
    const std::size_t begin = rows_.terms.size();
    for (std::uint32_t plane = 0; planes >> plane != 0; ++plane) {
      if ((planes >> plane & 1u) == 0) continue;
      const std::uint32_t bits = plane << group_plane_shift;
      for (const Member& member : members_) {
        const bool has_bit = (member.size >> plane & 1u) != 0;
        if (has_bit && member.negative == negative) rows_.terms.push_back(member.variable | bits);
      }
      while (rows_.terms.size() % group_size != 0) {
        rows_.terms.push_back(static_cast<std::uint32_t>(plan_.n_variables) | bits);
      }
    }
    return (rows_.terms.size() - begin) / group_size;
  }

  struct Member {
    std::uint32_t variable, size;
    bool negative;
  };

  const PairwisePlan& plan_;
  RowPart part_;
  std::vector<Member> members_;  // of the row
  GroupRows rows_;
};

}  // namespace

GroupRows group_rows(const PairwisePlan& plan, RowPart part) {
  if (!is_worth_it(plan)) return {};
  GroupBuilder builder(plan, part);
  for (std::size_t site = 0; site < plan.variable.size(); ++site) {
    if (!builder.add_row(site)) return {};
  }
  return builder.take();
}

}  // namespace kiln::problems
