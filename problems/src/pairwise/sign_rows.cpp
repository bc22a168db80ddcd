// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/sign_rows.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "kiln/host_threads.hpp"
#include "kiln/kernels/sweeps/sign_rows.hpp"

#include "pairwise/plan_rows.hpp"

namespace kiln::problems {
namespace {

// Whether the entries of a site are couplings of 1 or -1 to all other variables.
bool has_all_signs(const PairwisePlan& plan, std::size_t site) {
  std::int64_t couplings = 0;
  for (const PairEntry& entry : row_of(plan, site)) {
    if (entry.weight == 0) continue;
    if (std::abs(entry.weight) != 1) return false;
    ++couplings;
  }
  return couplings == plan.n_variables - 1;
}

}  // namespace

std::int32_t sign_planes(const PairwisePlan& plan) {
  if (!plan.sequential || !plan.integral || plan.arithmetic != Arithmetic::narrow) return 0;
  const auto variables = static_cast<std::size_t>(plan.n_variables);
  for (std::size_t site = 0; site < variables; ++site) {
    if (plan.variable[site] != static_cast<std::int32_t>(site)) return 0;
    if (!has_all_signs(plan, site)) return 0;
  }
  // Half of a field and a spin: floor((f + s) / 2), with sign.
  const std::int32_t planes = plan.max_sum + 1 <= 4095 ? 12 : 15;
  return SignRows{plan.n_sites()}.kept_words(planes) <= plan.n_sites() ? planes : 0;
}

void write_sign_rows(std::int8_t* matrix, std::int32_t n_sites) {
  const SignRows rows{n_sites};
  const auto words = static_cast<std::size_t>(rows.row_words());
  std::int8_t* const behind = matrix + rows.matrix_bytes();
  const auto write = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<std::uint32_t> row(words);
    for (std::int64_t site = begin; site < end; ++site) {
      const std::int8_t* const weights = matrix + site * n_sites;
      std::uint32_t block[SignRows::block_words] = {};
      for (std::int32_t w = 0; w < rows.row_words(); ++w) {
        std::uint32_t word = 0;
        for (std::int32_t bit = 0; bit < 32; ++bit) {
          const std::int32_t other = rows.site_at(w, bit);
          if (other >= n_sites || weights[other] >= 0) continue;
          word |= 1u << bit;
          if (other / SignRows::stretch == site / SignRows::stretch) {
            const auto quad = static_cast<std::uint32_t>(other % SignRows::stretch / 4);
            block[quad / 8] |= 1u << (8 * (other % 4) + quad % 8);
          }
        }
        row[static_cast<std::size_t>(w)] = word;
      }
      std::int8_t* const to = behind + 8 * site * rows.row_words();
      std::memcpy(to, row.data(), 4 * words);
      for (std::uint32_t& word : row) word = ~word;
      std::memcpy(to + 4 * words, row.data(), 4 * words);
      std::memcpy(behind + 4 * (rows.blocks_at() + site * SignRows::block_words), block,
                  sizeof block);
    }
  };
  for_each_block(n_sites, write, 1 + elements_for_a_thread / n_sites);
}

}  // namespace kiln::problems
