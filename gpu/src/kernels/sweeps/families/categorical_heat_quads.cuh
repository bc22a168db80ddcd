// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "categorical_quads.cuh"

/// The heat bath of a lane on a quad of a Potts model of few values: four sites of four replicas.
namespace kiln::cuda {
namespace {

// The local energies of a site: byte r of sums[v] is that of the couplings for value v and replica
// r, plus 128.
template <int kValues, bool kFields>
struct HeatSite {
  using Change = typename CategoricalLane<kFields>::Change;

  std::uint32_t sums[kValues];
  std::int32_t site;

  template <class Tile>
  __device__ HeatSite(const CategoricalView& model, const QuadRows& rows, int i, const Tile& tile,
                      std::uint32_t first_site)
      : site(static_cast<std::int32_t>(first_site) + i) {
#pragma unroll
    for (int v = 0; v < kValues; ++v) sums[v] = 0;
    rows.for_each(i, tile, [&](std::uint32_t values, std::uint32_t weight) {
#pragma unroll
      for (int v = 0; v < kValues; ++v) {
        if (v < model.values) {
          sums[v] += equal_bytes(values, static_cast<std::uint32_t>(v) * low_bits) * weight;
        }
      }
    });
#pragma unroll
    for (int v = 0; v < kValues; ++v) sums[v] = high_bits + sums[v] * inverse_of_255;
  }

  // The local energy of value v, but for a constant.
  __device__ Change local(const CategoricalView& model, int v, int r) const {
    Change energy = byte_of(sums[v], r);
    if constexpr (kFields) energy += model.field_of(site, v);
    return energy;
  }
};

template <int kValues, bool kFields>
__device__ __noinline__ std::int32_t heat_value_exactly(const CategoricalSweep& kernel,
                                                        std::int64_t slot,
                                                        HeatSite<kValues, kFields> site, int r,
                                                        std::uint32_t word) {
  double local[kValues];
  for (std::int32_t v = 0; v < kernel.model.values; ++v) {
    local[v] = static_cast<double>(site.local(kernel.model, v, r));
  }
  return draw_value(local, 1, kernel.model.values, kernel.beta_of(slot), word);
}

// Draws the value of replica r; errors are those of CategoricalEstimate::value().
template <int kValues, bool kFields>
__device__ inline std::uint32_t heat_value(const CategoricalSweep& kernel,
                                           const CategoricalLane<kFields>& lane,
                                           const HeatSite<kValues, kFields>& site, int r,
                                           std::uint32_t word) {
  const std::int32_t values = kernel.model.values;
  typename CategoricalLane<kFields>::Change local[kValues], least{};
#pragma unroll
  for (int v = 0; v < kValues; ++v) {
    if (v >= values) continue;
    local[v] = site.local(kernel.model, v, r);
    least = v == 0 || local[v] < least ? local[v] : least;
  }
  float sums[kValues], total = 0;
#pragma unroll
  for (int v = 0; v < kValues; ++v) {
    if (v < values) {
      total += exp2_approximate(-(lane.beta[r] * static_cast<float>(local[v] - least)));
    }
    sums[v] = total;
  }
  const float drawn = __uint2float_rn(word) * 0x1p-32f * total;
  const float error = total * static_cast<float>(values + 4) * 0x1p-20f;
  std::uint32_t value = 0;
  bool sure = true;
#pragma unroll
  for (int v = 0; v < kValues - 1; ++v) {
    if (v >= values - 1) continue;
    if (drawn >= sums[v]) value = static_cast<std::uint32_t>(v) + 1;
    sure = sure && fabsf(drawn - sums[v]) > error;
  }
  if (sure) return value;
  return static_cast<std::uint32_t>(
      heat_value_exactly<kValues, kFields>(kernel, lane.slot(kernel, r), site, r, word));
}

template <bool kSharedKeys, bool kFields, int kValues, class Tile>
__device__ inline void heat_categorical_quad(const CategoricalSweep& kernel, const Tile& tile,
                                             const StepDraws& step, const ComputedKeys& keys,
                                             std::uint32_t number, CategoricalLane<kFields>& lane) {
  const CategoricalView& model = kernel.model;
  const QuadRows rows(model, 4 * number);
  const RealSites real(model, number);
  const QuadWords<kSharedKeys> draws(kernel, step, keys, number, CategoricalSweep::decide_block);
  Words4 words[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) words[r] = draws.of(lane, r);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (!real.of[i]) continue;
    const HeatSite<kValues, kFields> site(model, rows, i, tile, 4 * number);
    std::uint32_t& state = tile.at(4 * number + i);
    const std::uint32_t here = state;
    std::uint32_t there = 0;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const std::uint32_t value = heat_value(kernel, lane, site, r, words[r].word[i]);
      const auto own = static_cast<std::uint32_t>(byte_of(here, r));
      there |= value << (8 * r);
#pragma unroll
      for (int v = 0; v < kValues; ++v) {
        if (v >= model.values) continue;
        const auto energy = site.local(model, v, r);
        if (value == static_cast<std::uint32_t>(v)) lane.change[r] += energy;
        if (own == static_cast<std::uint32_t>(v)) lane.change[r] -= energy;
      }
      lane.changed[r] += value != own ? 1u : 0u;
    }
    state = (there & lane.moves) | (here & ~lane.moves);
  }
}

}  // namespace
}  // namespace kiln::cuda
