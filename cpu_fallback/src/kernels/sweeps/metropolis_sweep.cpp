// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include <cstddef>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"

#include "kernels/isa.hpp"
#include "launch.hpp"
#include "sweep_tile.hpp"

namespace kiln::cpu {
namespace {

TileNumber number_for(const PairwiseView& model) {
  switch (model.arithmetic) {
    case Arithmetic::narrow:
      return model.max_coupling_sum <= 127 ? TileNumber::int8 : TileNumber::int16;
    case Arithmetic::medium:
      return TileNumber::single;
    case Arithmetic::wide:
      break;
  }
  return TileNumber::real;
}

void sweep_word(const MetropolisSweep& kernel, TileFunction tile, std::int64_t word, void* masks) {
  const PairwiseView& model = kernel.model;
  TileJob job;
  job.number = number_for(model);
  job.n_sites = model.n_sites;
  job.variable = model.variable.data;
  job.row_begin = model.row_begin.data;
  job.entries = model.entries.data;
  job.weights_i16 = model.weights_i16.data;
  job.weights_f64 = model.weights_f64.data;
  job.base = model.base.data;
  job.words = kernel.state.data + word;
  job.word_stride = kernel.state.stride;
  job.heat_bath = kernel.rule == SweepRule::heat_bath;
  job.exact_accept = job.heat_bath ? &exact::accept_heat_bath : &exact::accept;
  const std::uint64_t step = kernel.control->step + kernel.step_offset;
  job.step_low = static_cast<std::uint32_t>(step);
  job.counter3 = (static_cast<std::uint32_t>(RngDomain::metropolis) << 24) |
                 (static_cast<std::uint32_t>(step >> 32) & 0xFFFFu);
  for (int l = 0; l < TileJob::lanes; ++l) {
    const std::int64_t slot = word * 32 + l;
    job.beta[l] = exact::mul(kernel.beta[kernel.rung_of[slot]], kernel.inverse_scale);
    job.moves[l] = kernel.rests(slot) ? 0 : -1;
    job.key[l] = kernel.draw_ids.key[slot];
    job.replica[l] = kernel.draw_ids.replica[slot];
  }
  job.masks = masks;
  tile(job);
  for (int l = 0; l < TileJob::lanes; ++l) {
    const std::int64_t slot = word * 32 + l;
    if (model.integral) kernel.energy[slot] += job.delta[l];
    if (kernel.accepted) kernel.accepted[slot] += job.accepted[l];
  }
}

}  // namespace

std::size_t mask_bytes(TileNumber number, std::int32_t n_sites) {
  std::size_t each = 8;
  if (number == TileNumber::int8) each = 1;
  if (number == TileNumber::int16) each = 2;
  if (number == TileNumber::single) each = 4;
  return static_cast<std::size_t>(n_sites) * TileJob::lanes * each;
}

namespace {
TileFunction best_tile() {
#if defined(KILN_X86_64) && KILN_X86_64
  switch (chosen_isa()) {
    case Isa::avx512:
      return &sweep_tile_avx512;
    case Isa::avx2:
      return &sweep_tile_avx2;
    case Isa::baseline:
      break;
  }
#endif
  return &sweep_tile_baseline;
}
}  // namespace

template <>
void launch(const MetropolisSweep& kernel, Queue& queue) {
  if (!kernel.control->active(kernel.step_offset)) return;
  const TileFunction tile = best_tile();
  const std::size_t bytes = mask_bytes(number_for(kernel.model), kernel.model.n_sites);
  for_each_with_scratch(
      queue, kernel.state.columns, bytes,
      [&](std::int64_t word, std::byte* masks) { sweep_word(kernel, tile, word, masks); });
}

}  // namespace kiln::cpu
