// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/sweeps/plane_parts.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace kiln::cpu {
namespace {

// Whether a word has one key, one temperature and replicas 32 k .. 32 k + 31 in order.
bool is_uniform(const SliceJob& job, int word) {
  const std::uint64_t* const key = job.key + 32 * word;
  const std::uint32_t* const replica = job.replica + 32 * word;
  const double* const beta = job.beta + 32 * word;
  if (replica[0] % 32 != 0) return false;
  for (std::uint32_t l = 1; l < 32; ++l) {
    if (key[l] != key[0] || replica[l] != replica[0] + l || beta[l] != beta[0]) return false;
  }
  return true;
}

}  // namespace

bool are_alike(const SliceJob& job, int word, int other) {
  return job.key[32 * word] == job.key[32 * other] && job.beta[32 * word] == job.beta[32 * other];
}

int words_together(const SliceJob& job, int first, bool shared) {
  int n = 0;
  for (; first + n < job.n_words && is_uniform(job, first + n); ++n) {
    if (shared && !are_alike(job, first + n, first)) break;
  }
  return n;
}

void take_part(const SliceJob& job, int first, int n, SliceJob& part) {
  part.n_words = n;
  part.width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(n)));
  part.first_word = job.first_word + first;
  part.words = job.words + first;
  part.new_words = job.new_words + first;
  part.counter3 = job.counter3;
  const auto take = [&](auto& to, const auto& from, std::size_t each) {
    std::copy_n(from + each * static_cast<std::size_t>(first), each * static_cast<std::size_t>(n),
                to);
  };
  take(part.beta, job.beta, 32);
  take(part.key, job.key, 32);
  take(part.replica, job.replica, 32);
  std::fill(std::begin(part.moves), std::end(part.moves), 0u);
  take(part.moves, job.moves, 1);
  std::fill_n(part.delta, 32 * n, 0.0);
  std::fill_n(part.accepted, 32 * n, std::uint64_t{0});
}

}  // namespace kiln::cpu
