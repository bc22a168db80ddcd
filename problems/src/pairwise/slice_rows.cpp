// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/slice_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kiln/host_threads.hpp"

#include "pairwise/plan_rows.hpp"

namespace kiln::problems {
namespace {

constexpr std::size_t max_run = (std::size_t{1} << 24) - 1;

// Describes sites, and then writes the runs and terms of each; rows do not depend on each other.
class SliceBuilder {
 public:
  explicit SliceBuilder(const PairwisePlan& plan) : plan_(plan) {}

  SliceRows build() {
    const auto n_sites = static_cast<std::int64_t>(plan_.variable.size());
    rows_.sites.resize(plan_.variable.size() + 1);
    std::vector<Block> blocks = of_each_block(
        n_sites, [&](std::int64_t begin, std::int64_t end) { return describe(begin, end); });
    SliceSite all;
    for (Block& block : blocks) {
      all.first_term += std::exchange(block.terms, all.first_term);
      all.first_run += std::exchange(block.runs, all.first_run);
      rows_.max_local = std::max(rows_.max_local, block.max_local);
    }
    rows_.sites.back() = all;
    rows_.runs.resize(static_cast<std::size_t>(all.first_run));
    rows_.terms.resize(static_cast<std::size_t>(all.first_term));
    for_each_block(n_sites, [&](std::int64_t begin, std::int64_t end, std::int64_t block) {
      write(begin, end, blocks[static_cast<std::size_t>(block)]);
    });
    return std::move(rows_);
  }

 private:
  // What a block of sites has; then what those before it have.
  struct Block {
    std::int64_t runs = 0, terms = 0;
    std::int32_t max_local = 0;
  };

  // The first runs and terms count from the beginning of the block.
  Block describe(std::int64_t begin, std::int64_t end) {
    Block block;
    for (auto site = static_cast<std::size_t>(begin); site < static_cast<std::size_t>(end);
         ++site) {
      std::uint32_t sum = 0;
      std::array<std::uint32_t, 2> planes{};  // by sign
      SliceSite row;
      row.first_term = block.terms;
      row.first_run = block.runs;
      for (const PairEntry& entry : row_of(plan_, site)) {
        const std::uint32_t size = size_of(entry);
        sum += size;
        planes[entry.weight < 0] |= size;
        block.terms += n_bits(size);
      }
      const std::int64_t runs = count_runs(site, planes, block.terms - row.first_term);
      block.runs += runs;
      row.base = static_cast<std::int32_t>(plan_.field[site]) + static_cast<std::int32_t>(sum);
      row.n_runs = static_cast<std::int16_t>(runs);
      row.n_planes = static_cast<std::int16_t>(std::bit_width(sum));
      rows_.sites[site] = row;
      const auto local = std::abs(plan_.field[site]) + static_cast<double>(sum);
      block.max_local = std::max(block.max_local, static_cast<std::int32_t>(local));
    }
    return block;
  }

  // One for each sign and plane, and more where they would be too long.
  std::int64_t count_runs(std::size_t site, const std::array<std::uint32_t, 2>& planes,
                          std::int64_t terms) const {
    if (terms <= static_cast<std::int64_t>(max_run)) {
      return std::popcount(planes[0]) + std::popcount(planes[1]);
    }
    std::int64_t runs = 0;
    for (int plane = 0; (planes[0] | planes[1]) >> plane != 0; ++plane) {
      for (const bool negative : {false, true}) {
        std::size_t of_run = 0;
        for_each_term(site, plane, negative, [&](const PairEntry&) { ++of_run; });
        runs += static_cast<std::int64_t>((of_run + max_run - 1) / max_run);
      }
    }
    return runs;
  }

  void write(std::int64_t begin, std::int64_t end, const Block& before) {
    for (auto site = static_cast<std::size_t>(begin); site < static_cast<std::size_t>(end);
         ++site) {
      SliceSite& row = rows_.sites[site];
      row.first_term += before.terms;
      row.first_run += before.runs;
      std::uint32_t* term = rows_.terms.data() + row.first_term;
      std::uint32_t* run = rows_.runs.data() + row.first_run;
      std::uint32_t planes = 0;
      for (const PairEntry& entry : row_of(plan_, site)) planes |= size_of(entry);
      for (; planes != 0; planes &= planes - 1) {
        const int plane = std::countr_zero(planes);
        write_terms(site, plane, false, term, run);
        write_terms(site, plane, true, term, run);
      }
    }
  }

  // The neighbours whose couplings have this sign and this bit.
  void write_terms(std::size_t site, int plane, bool negative, std::uint32_t*& term,
                   std::uint32_t*& run) const {
    const std::uint32_t* const begin = term;
    for_each_term(site, plane, negative, [&](const PairEntry& entry) { *term++ = entry.site; });
    for (auto left = static_cast<std::size_t>(term - begin); left > 0;) {
      const std::size_t n_terms = std::min(left, max_run);
      *run++ = slice_run_word({static_cast<std::uint32_t>(n_terms), plane, negative});
      left -= n_terms;
    }
  }

  template <class Visit>
  void for_each_term(std::size_t site, int plane, bool negative, Visit visit) const {
    for (const PairEntry& entry : row_of(plan_, site)) {
      const bool has_bit = (size_of(entry) >> plane & 1u) != 0;
      if (has_bit && (entry.weight < 0) == negative) visit(entry);
    }
  }

  const PairwisePlan& plan_;
  SliceRows rows_;
};

}  // namespace

SliceRows slice_rows(const PairwisePlan& plan) {
  if (plan.arithmetic == Arithmetic::wide) return {};
  return SliceBuilder(plan).build();
}

}  // namespace kiln::problems
