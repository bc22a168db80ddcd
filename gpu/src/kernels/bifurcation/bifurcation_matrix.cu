// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_matrix.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// A block for each row.
__global__ void __launch_bounds__(block_size)
    write_matrix(const __grid_constant__ BifurcationMatrix kernel) {
  const PairwiseView& model = kernel.model;
  for (std::int64_t site = blockIdx.x; site < model.n_sites; site += gridDim.x) {
    std::int8_t* const row = &kernel.matrix(site, 0);
    for (std::int64_t j = threadIdx.x; j < kernel.matrix.columns; j += block_size) row[j] = 0;
    __syncthreads();
    const std::int64_t end = model.row_begin[site + 1];
    for (std::int64_t e = model.row_begin[site] + threadIdx.x; e < end; e += block_size) {
      const PairEntry entry = model.entries[e];
      if (entry.weight == 0) continue;
      row[entry.site] =
          static_cast<std::int8_t>(static_cast<std::int32_t>(entry.weight) / kernel.unit);
    }
  }
}

}  // namespace

template <>
void launch(const BifurcationMatrix& kernel, Queue& queue) {
  if (kernel.model.n_sites <= 0) return;
  const unsigned blocks = blocks_for(std::int64_t{block_size} * kernel.model.n_sites);
  write_matrix<<<blocks, block_size, 0, stream_of(queue)>>>(kernel);
  check_launch(BifurcationMatrix::name);
}

}  // namespace kiln::cuda
