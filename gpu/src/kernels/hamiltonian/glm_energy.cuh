// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/math.hpp"
#include "kiln/kernels/hamiltonian/generalized_linear.hpp"

#include "glm_forces.cuh"

namespace kiln::cuda {

/// The negative log likelihood of chains over rows, all in double. A sum of log(1 + e) is stored as
/// the logarithm of a product: one logarithm for many rows instead of one for each.
struct GlmEnergySum {
  static constexpr int max_factors = 512;  // of at most 2 each

  double sum = 0, product = 1;

  __device__ void take(const GeneralizedLinear& model, double z, double y) {
    if (model.link == GlmLink::logistic) {
      const bool up = z > 0;
      sum += (up ? z : 0.0) - y * z;
      product *= 1.0 + math::exp(up ? -z : z);
    } else {
      sum += model.energy_of(z, y);
    }
  }
  __device__ void take_logarithm() {
    sum += math::log(product);
    product = 1;
  }
};

/// One pass over rows first .. first + count - 1 (count a multiple of 8; rows beyond the model's do
/// not count) for the 32 chains of a block. weights: [chain][stride] in shared memory, 0 beyond the
/// model's columns. Writes parts [row group][chain], complete after the next barrier.
template <class Shape>
__device__ void glm_energy_pass(const GeneralizedLinear& model, std::int64_t first,
                                std::int64_t count, const double* weights, int stride,
                                double* parts) {
  constexpr int steps = Shape::width / 4, tiles = 2 * Shape::bands;  // of 8 chains
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int group = lane / 4, place = lane % 4, row_group = warp / Shape::chain_groups;
  const int first_chain = warp % Shape::chain_groups * 16 * Shape::bands;
  GlmEnergySum energy[tiles];
  int factors = 0;
  for (std::int64_t row = first + 8 * row_group; row < first + count;
       row += 8 * Shape::row_groups) {
    double along[steps];  // columns place * steps + k of row + group
    const auto* from =
        reinterpret_cast<const double2*>(model.x + (row + group) * Shape::width + place * steps);
#pragma unroll
    for (int k = 0; k < steps; k += 2) {
      const double2 v = __ldg(from + k / 2);
      along[k] = v.x, along[k + 1] = v.y;
    }
    const std::int64_t row0 = row + 2 * place, row1 = row0 + 1;
    const double y0 = model.y[row0], y1 = model.y[row1];
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
      const double* w = weights + (first_chain + 8 * t + group) * stride + place * steps;
      double z[2] = {0, 0};
#pragma unroll
      for (int k = 0; k < steps; ++k) multiply_add(z, w[k], along[k]);
      if (row0 < model.rows) energy[t].take(model, z[0], y0);
      if (row1 < model.rows) energy[t].take(model, z[1], y1);
    }
    if ((factors += 2) == GlmEnergySum::max_factors) {
#pragma unroll
      for (GlmEnergySum& e : energy) e.take_logarithm();
      factors = 0;
    }
  }
#pragma unroll
  for (int t = 0; t < tiles; ++t) {
    energy[t].take_logarithm();
    double sum = energy[t].sum;
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
    if (place == 0) parts[row_group * glm_chains + first_chain + 8 * t + group] = sum;
  }
}

}  // namespace kiln::cuda
