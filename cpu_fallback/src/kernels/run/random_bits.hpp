// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln::cpu {

/// Random bits for some variables of the 32 slots of a word, as plain pointers: see SliceJob.
struct RandomBitsJob {
  static constexpr int lanes = 32;

  std::uint64_t key[lanes] = {};
  std::uint32_t replica[lanes] = {};
  std::uint32_t step_low = 0;
  std::uint32_t counter3 = 0;       // domain, block and high part of the step
  std::uint32_t selected = 0;       // bits of the slots to write
  std::int64_t first_index = 0;     // index of the draw of variable 0
  std::int64_t begin = 0, end = 0;  // variables
  std::uint32_t* words = nullptr;   // of variable 0, next variable at + stride
  std::int64_t word_stride = 0;
};

/// The bit of a slot is the highest bit of the word that its draw names. All variants give the same
/// bits.
void random_bits_baseline(const RandomBitsJob& job);
void random_bits_avx2(const RandomBitsJob& job);
void random_bits_avx512(const RandomBitsJob& job);
using RandomBits = void (*)(const RandomBitsJob&);

}  // namespace kiln::cpu
