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

#include "kiln/host_threads.hpp"

#include "pairwise/plan_rows.hpp"

namespace kiln::problems {
namespace {

constexpr std::size_t group_size = 4;
constexpr std::size_t max_groups = std::numeric_limits<std::uint16_t>::max();
// Terms of a coupling, on average, up to which counting is worth it.
constexpr std::size_t max_terms_per_entry = 4;

// Of two coupled sites the first has the coupling if their numbers differ by an odd number.
bool belongs(RowPart part, std::size_t site, const PairEntry& entry) {
  if (part == RowPart::whole) return true;
  const std::size_t other = entry.site;
  return ((site + other) % 2 == 1) == (site < other);
}

// visit(entry, size) for the couplings of a row that belong to the part.
template <class Visit>
void for_each_member(const PairwisePlan& plan, RowPart part, std::size_t site, Visit visit) {
  for (const PairEntry& entry : row_of(plan, site)) {
    if (entry.weight != 0 && belongs(part, site, entry)) visit(entry, size_of(entry));
  }
}

// How many terms of each plane a row has, by sign. Most rows have one plane.
class TermCounts {
 public:
  void add(std::uint32_t size, bool negative) {
    planes_ |= size;
    for (std::uint32_t left = size; left != 0; left &= left - 1) {
      ++counts_[static_cast<std::size_t>(std::countr_zero(left))][negative];
    }
  }
  std::uint32_t planes() const { return planes_; }
  std::size_t groups(bool negative) const {
    std::size_t groups = 0;
    for (std::uint32_t left = planes_; left != 0; left &= left - 1) {
      const auto plane = static_cast<std::size_t>(std::countr_zero(left));
      groups += (counts_[plane][negative] + group_size - 1) / group_size;
    }
    return groups;
  }
  void clear() {
    for (; planes_ != 0; planes_ &= planes_ - 1) {
      counts_[static_cast<std::size_t>(std::countr_zero(planes_))] = {};
    }
  }

 private:
  std::uint32_t planes_ = 0;
  std::array<std::array<std::size_t, 2>, 32> counts_{};
};

// Puts the terms of a site, whose order is free, where they are fast to read. Sites that follow
// each other are read together, place by place; variables that differ modulo 2, 4 or 8 lie in
// different banks of shared memory.
class TermOrder {
 public:
  // Forgets the terms of the site before.
  void begin(std::size_t site) {
    site_ = site;
    terms_.clear();
    left_ = {};
  }
  void add(std::uint32_t variable) {
    terms_.push_back(variable);
    ++left_[variable % banks];
  }

  // Writes the terms with some more bits, the first one at a place of the row; returns their end.
  std::uint32_t* write(std::uint32_t* to, std::uint32_t bits, std::size_t place) {
    std::array<std::size_t, banks> next{};
    for (std::size_t bank = 1; bank < banks; ++bank) next[bank] = next[bank - 1] + left_[bank - 1];
    by_bank_.resize(terms_.size());
    std::array<std::size_t, banks> end = next;
    for (const std::uint32_t term : terms_) by_bank_[end[term % banks]++] = term;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const std::size_t bank = nearest((place + i + site_) % banks);
      --left_[bank];
      *to++ = by_bank_[next[bank]++] | bits;
    }
    return to;
  }

 private:
  static constexpr std::size_t banks = 8;

  // A bank with terms left: this one, or one that agrees with it in as many low bits as possible.
  std::size_t nearest(std::size_t wanted) const {
    for (const std::size_t other : {wanted, wanted ^ 4, wanted ^ 2, wanted ^ 6}) {
      if (left_[other] > 0) return other;
    }
    const auto most = std::ranges::max_element(left_);
    return static_cast<std::size_t>(most - left_.begin());
  }

  std::size_t site_ = 0;
  std::array<std::size_t, banks> left_{};
  std::vector<std::uint32_t> terms_, by_bank_;
};

// Describes sites, and then writes the terms of each; rows do not depend on each other.
class GroupBuilder {
 public:
  GroupBuilder(const PairwisePlan& plan, RowPart part) : plan_(plan), part_(part) {}

  GroupRows build() {
    const auto n_sites = static_cast<std::int64_t>(plan_.variable.size());
    rows_.sites.resize(plan_.variable.size());
    std::vector<Block> blocks = of_each_block(
        n_sites, [&](std::int64_t begin, std::int64_t end) { return describe(begin, end); });
    Block all;
    for (Block& block : blocks) all.append(block);
    const bool fits = all.fits && all.groups <= std::numeric_limits<std::uint32_t>::max();
    if (!fits || all.terms > max_terms_per_entry * all.entries) return {};
    rows_.max_sum = all.max_sum;
    rows_.one_plane = all.one_plane;
    rows_.n_hubs = all.n_hubs;
    rows_.n_even = all.n_even;
    rows_.terms.resize(group_size * all.groups);
    for_each_block(n_sites, [&](std::int64_t begin, std::int64_t end, std::int64_t block) {
      write(begin, end, blocks[static_cast<std::size_t>(block)].first_group);
    });
    return std::move(rows_);
  }

 private:
  // What is said of a block of sites.
  struct Block {
    std::size_t groups = 0, first_group = 0;
    std::size_t terms = 0, entries = 0;  // of whole rows
    std::int32_t max_sum = 0, n_hubs = 0, n_even = 0;
    bool one_plane = true, fits = true;

    void append(Block& next) {
      next.first_group = groups;
      groups += next.groups;
      terms += next.terms;
      entries += next.entries;
      max_sum = std::max(max_sum, next.max_sum);
      n_hubs += next.n_hubs;
      n_even += next.n_even;
      one_plane = one_plane && next.one_plane;
      fits = fits && next.fits;
    }
  };

  // The first groups count from the beginning of the block.
  Block describe(std::int64_t begin, std::int64_t end) {
    Block block;
    TermCounts counts;
    for (auto site = static_cast<std::size_t>(begin); site < static_cast<std::size_t>(end);
         ++site) {
      counts.clear();
      std::int64_t sum = 0, negative = 0;  // of couplings
      for (const PairEntry& entry : row_of(plan_, site)) {
        const std::uint32_t size = size_of(entry);
        block.terms += n_bits(size);
        block.entries += size != 0;
        if (!belongs(part_, site, entry)) continue;
        counts.add(size, entry.weight < 0);
        sum += size;
        negative += entry.weight < 0 ? size : 0;
      }
      const std::size_t n_negative = counts.groups(true), n_positive = counts.groups(false);
      block.fits = block.fits && std::max(n_negative, n_positive) <= max_groups;
      block.one_plane = block.one_plane && counts.planes() <= 1;
      block.n_hubs += n_negative + n_positive >= hub_groups ? 1 : 0;
      GroupSite row;
      row.first_group = static_cast<std::uint32_t>(block.groups);
      row.n_negative = static_cast<std::uint16_t>(n_negative);
      row.n_positive = static_cast<std::uint16_t>(n_positive);
      row.variable = plan_.variable[site];
      if (row.variable >= 0) describe_sum(site, sum, negative, row, block);
      rows_.sites[site] = row;
      block.groups += n_negative + n_positive;
    }
    return block;
  }

  // A field acts as a neighbour that is always up.
  void describe_sum(std::size_t site, std::int64_t sum, std::int64_t negative, GroupSite& row,
                    Block& block) const {
    const auto field = static_cast<std::int64_t>(plan_.field[site]);
    const std::int64_t all = sum + std::abs(field);
    const std::int64_t even = all % 2 == 0 ? 1 : 0;
    const std::int64_t start = negative + (field < 0 ? -field : 0) - (all + even + 1) / 2;
    row.start_and_even = static_cast<std::int32_t>(2 * start + even);
    block.max_sum = std::max(block.max_sum, static_cast<std::int32_t>(all + even));
    block.n_even += static_cast<std::int32_t>(even);
  }

  void write(std::int64_t begin, std::int64_t end, std::size_t first_group) {
    TermOrder below, above;
    for (auto site = static_cast<std::size_t>(begin); site < static_cast<std::size_t>(end);
         ++site) {
      GroupSite& row = rows_.sites[site];
      row.first_group += static_cast<std::uint32_t>(first_group);
      std::uint32_t* const terms = rows_.terms.data() + group_size * row.first_group;
      std::uint32_t* const positive = terms + group_size * row.n_negative;
      if (rows_.one_plane) {
        write_one_plane(site, below, above, terms, positive,
                        positive + group_size * row.n_positive);
      } else {
        write_planes(site, true, below, terms);
        write_planes(site, false, above, positive);
      }
    }
  }

  // The terms of one sign and one plane, and fillers after them.
  void write_one_plane(std::size_t site, TermOrder& below, TermOrder& above,
                       std::uint32_t* negative, std::uint32_t* positive, std::uint32_t* end) const {
    below.begin(site), above.begin(site);
    for_each_member(plan_, part_, site, [&](const PairEntry& entry, std::uint32_t) {
      TermOrder& terms = entry.weight < 0 ? below : above;
      terms.add(static_cast<std::uint32_t>(plan_.variable[entry.site]));
    });
    const auto nobody = static_cast<std::uint32_t>(plan_.n_variables);
    std::fill(below.write(negative, 0, 0), positive, nobody);
    std::fill(above.write(positive, 0, 0), end, nobody);
  }

  // The groups of the neighbours whose couplings have this sign.
  void write_planes(std::size_t site, bool negative, TermOrder& terms,
                    std::uint32_t* const begin) const {
    std::uint32_t planes = 0;
    for_each_member(plan_, part_, site, [&](const PairEntry& entry, std::uint32_t size) {
      if ((entry.weight < 0) == negative) planes |= size;
    });
    std::uint32_t* next = begin;
    for (; planes != 0; planes &= planes - 1) {
      const int plane = std::countr_zero(planes);
      const std::uint32_t bits = static_cast<std::uint32_t>(plane) << group_plane_shift;
      terms.begin(site);
      for_each_member(plan_, part_, site, [&](const PairEntry& entry, std::uint32_t size) {
        if ((entry.weight < 0) != negative || (size >> plane & 1u) == 0) return;
        terms.add(static_cast<std::uint32_t>(plan_.variable[entry.site]));
      });
      next = terms.write(next, bits, static_cast<std::size_t>(next - begin));
      for (; (next - begin) % static_cast<std::ptrdiff_t>(group_size) != 0; ++next) {
        *next = static_cast<std::uint32_t>(plan_.n_variables) | bits;
      }
    }
  }

  const PairwisePlan& plan_;
  RowPart part_;
  GroupRows rows_;
};

}  // namespace

GroupRows group_rows(const PairwisePlan& plan, RowPart part) {
  if (plan.arithmetic == Arithmetic::wide) return {};
  if (plan.n_variables >= (std::int32_t{1} << group_plane_shift)) return {};
  return GroupBuilder(plan, part).build();
}

GroupPair group_pair(const PairwisePlan& plan) {
  GroupPair pair;
  // A model that is swept in order has a kernel of its own kind.
  if (!plan.sequential) pair.whole = group_rows(plan);
  pair.half = group_rows(plan, RowPart::half);
  pair.staged = staged_sites(plan, pair.whole);
  return pair;
}

}  // namespace kiln::problems
