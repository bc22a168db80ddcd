// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/kernels/sweeps/pairwise_model.hpp"

#include "kernels/sweeps/plane_words.hpp"

namespace kiln::cpu {

/// The number type of local fields in a tile; each is exact for its models.
enum class TileNumber : std::uint8_t { int8, int16, single, real };

/// One sweep of the 32 replicas of a word by masked sums: for models with real weights or integers
/// beyond Arithmetic::medium, and for others where counting in slices costs more. Plain pointers:
/// see SliceJob.
struct TileJob {
  static constexpr int lanes = 32;

  TileNumber number = TileNumber::real;
  std::int32_t n_sites = 0;
  const std::int32_t* variable = nullptr;   // [n_sites], -1: filler
  const std::int64_t* row_begin = nullptr;  // [n_sites + 1]
  const PairEntry* entries = nullptr;
  const double* weights_f64 = nullptr;
  const double* base = nullptr;  // [n_sites]

  std::uint32_t* words = nullptr;  // state word of variable 0, next variable at + stride
  std::int64_t word_stride = 0;
  void* masks = nullptr;  // scratch: mask_bytes() bytes, 64-byte aligned

  bool heat_bath = false;       // else Metropolis
  double beta[lanes] = {};      // per stored energy; may be +inf
  std::uint32_t moves[1] = {};  // bits of the replicas that are not left alone
  std::uint64_t key[lanes] = {};
  std::uint32_t replica[lanes] = {};
  std::uint32_t step_low = 0;
  std::uint32_t counter3 = 0;  // domain, block and high part of the step
  std::uint64_t step = 0;
  DrawSite draw_site = nullptr;  // draws by planes or shared; null: by words

  double delta[lanes] = {};            // out: energy change, for integral models
  std::uint64_t accepted[lanes] = {};  // out

  // The rule in double: decides the rare cases that single precision cannot.
  bool (*exact_accept)(double beta, double delta, std::uint32_t word) = nullptr;
};

/// The most words of a task: rows of real weights serve all of them.
constexpr int max_tile_words = 4;

/// Bytes of scratch that a tile needs for each word.
inline std::size_t mask_bytes(TileNumber number, std::int32_t n_sites) {
  constexpr std::size_t each[] = {1, 2, 4, 8};
  return static_cast<std::size_t>(n_sites) * TileJob::lanes * each[static_cast<int>(number)];
}

void sweep_tile_baseline(TileJob* jobs, int n);
void sweep_tile_avx2(TileJob* jobs, int n);
void sweep_tile_avx512(TileJob* jobs, int n);

/// Sweeps up to max_tile_words words of one model, whose jobs differ in words and draws alone. All
/// give the same bits; chosen_isa() selects the fastest here.
using TileFunction = void (*)(TileJob* jobs, int n);

}  // namespace kiln::cpu
