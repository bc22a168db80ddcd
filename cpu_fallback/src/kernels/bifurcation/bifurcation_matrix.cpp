// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_matrix.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const BifurcationMatrix& kernel, Queue& queue) {
  const PairwiseView& model = kernel.model;
  pool_of(queue).for_each(model.n_sites, [&](std::int64_t site) {
    std::int8_t* const row = &kernel.matrix(site, 0);
    std::fill_n(row, kernel.matrix.columns, std::int8_t{0});
    for (std::int64_t e = model.row_begin[site]; e < model.row_begin[site + 1]; ++e) {
      const PairEntry entry = model.entries[e];
      if (entry.weight == 0) continue;
      row[entry.site] =
          static_cast<std::int8_t>(static_cast<std::int32_t>(entry.weight) / kernel.unit);
    }
  });
}

}  // namespace kiln::cpu
