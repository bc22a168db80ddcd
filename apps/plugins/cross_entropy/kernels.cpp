// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "launchers.hpp"

// Loops over the 32 replicas of a word become vector instructions; the program picks the widest
// that the CPU has. All give the same bits. The thread sanitizer is not ready when it picks.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#define INLINE __attribute__((always_inline)) inline
#else
#define FOR_EACH_CPU
#define INLINE inline
#endif

namespace cross_entropy {
namespace {

constexpr std::int64_t variables_per_task = 256;  // multiple of 4

std::int64_t tasks_of(std::int64_t variables) {
  return (variables + variables_per_task - 1) / variables_per_task;
}

// The largest key of an elite, and how many replicas with this key are in it.
struct Cut {
  std::uint64_t key = 0;
  std::int64_t ties = 0;
};

// The key of rank `rank` >= 1 of a population, found digit by digit.
Cut cut_at(const SelectElite& kernel, std::int64_t first_slot, std::int64_t rank) {
  constexpr int n_digits = 1 << SelectElite::digit_bits;
  Cut cut;
  std::uint64_t known = 0;  // bits of the key that are found
  for (int shift = 64 - SelectElite::digit_bits; shift >= 0; shift -= SelectElite::digit_bits) {
    std::int64_t count[n_digits] = {};
    for (std::int64_t r = 0; r < kernel.population_size; ++r) {
      const std::uint64_t key = kernel.key(first_slot + r);
      if ((key & known) == cut.key) ++count[key >> shift & (n_digits - 1)];
    }
    std::uint64_t digit = 0;
    while (count[digit] < rank) rank -= count[digit++];
    cut.key |= digit << shift;
    known |= static_cast<std::uint64_t>(n_digits - 1) << shift;
  }
  cut.ties = rank;
  return cut;
}

void select(const SelectElite& kernel, std::int64_t population) {
  const std::int64_t first = population * kernel.population_size;
  std::int64_t finite = 0;
  for (std::int64_t r = 0; r < kernel.population_size; ++r) {
    finite += kernel.key(first + r) != SelectElite::not_finite ? 1 : 0;
  }
  const std::int64_t elite_size = std::min(kernel.wanted, finite);
  Cut cut = elite_size > 0 ? cut_at(kernel, first, elite_size) : Cut{};
  const std::uint64_t highest = elite_size > 0 ? cut.key : SelectElite::not_finite;
  for (std::int64_t begin = 0; begin < kernel.population_size; begin += word_bits) {
    std::uint32_t bits = 0;
    const std::int64_t end = std::min<std::int64_t>(begin + word_bits, kernel.population_size);
    for (std::int64_t r = begin; r < end; ++r) {
      const std::uint64_t key = kernel.key(first + r);
      const bool is_tie = key == cut.key && cut.ties > 0;
      cut.ties -= is_tie ? 1 : 0;
      bits |= (is_tie || key < cut.key ? 1u : 0u) << (r - begin);
    }
    kernel.elite[(first + begin) / word_bits] = bits;
  }
  kernel.begin_round(kernel.populations[population], static_cast<std::uint32_t>(elite_size),
                     highest);
}

void move(const MoveProbabilities& kernel, std::int64_t population, std::int64_t begin,
          std::int64_t end) {
  const std::int64_t first_word = population * kernel.population_words;
  bool open = false;
  for (std::int64_t v = begin; v < end; ++v) {
    std::uint32_t ones = 0;
    for (std::int64_t w = first_word; w < first_word + kernel.population_words; ++w) {
      if (kernel.elite[w] == 0) continue;
      ones += static_cast<std::uint32_t>(std::popcount(kernel.elite_ones(v, w)));
    }
    open |= kernel.update(population, v, ones);
  }
  if (!open) return;
  // Several tasks of a population store the same value.
  std::atomic_ref(kernel.populations[population].open).store(1, std::memory_order_relaxed);
}

// What names the draws of 32 replicas.
struct Lanes {
  alignas(64) std::uint64_t key[word_bits];
  alignas(64) std::uint32_t replica[word_bits];
  kiln::DrawName name;  // the rest
};

// The bits of four variables. Inlined: it is compiled for the CPU of its caller.
INLINE void draw_quad(const Lanes& lanes, std::uint32_t quad, const std::uint32_t (&threshold)[4],
                      std::uint32_t (&bits)[4]) {
  alignas(64) std::uint32_t below[4][word_bits];
  for (int lane = 0; lane < word_bits; ++lane) {
    kiln::DrawName name = lanes.name;
    name.key = lanes.key[lane];
    name.replica = lanes.replica[lane];
    const kiln::Words4 words = kiln::draw_quad(name, quad);
    below[0][lane] = words.word[0] < threshold[0] ? 1u : 0u;
    below[1][lane] = words.word[1] < threshold[1] ? 1u : 0u;
    below[2][lane] = words.word[2] < threshold[2] ? 1u : 0u;
    below[3][lane] = words.word[3] < threshold[3] ? 1u : 0u;
  }
  for (int i = 0; i < 4; ++i) {
    bits[i] = 0;
    for (int lane = 0; lane < word_bits; ++lane) bits[i] |= below[i][lane] << lane;
  }
}

void store(const kiln::StateBlock& block, std::int64_t variable, std::int64_t word,
           std::uint32_t bits) {
  if (block.layout == kiln::Layout::packed32) {
    block.as<std::uint32_t>()[variable * block.words() + word] = bits;
    return;
  }
  for (int bit = 0; bit < word_bits; ++bit) {
    block.set(variable, word * word_bits + bit, value_of(block.kind, (bits >> bit & 1u) != 0));
  }
}

FOR_EACH_CPU void draw(const DrawStates& kernel, std::int64_t word, std::int64_t begin,
                       std::int64_t end) {
  Lanes lanes;
  for (int lane = 0; lane < word_bits; ++lane) {
    lanes.name = kernel.name_of(word * word_bits + lane);
    lanes.key[lane] = lanes.name.key;
    lanes.replica[lane] = lanes.name.replica;
  }
  for (std::int64_t v = begin; v < end; v += 4) {
    const std::int64_t n = std::min<std::int64_t>(4, end - v);
    std::uint32_t threshold[4] = {}, bits[4];
    for (std::int64_t i = 0; i < n; ++i) threshold[i] = kernel.threshold(word, v + i);
    draw_quad(lanes, static_cast<std::uint32_t>(v / 4), threshold, bits);
    for (std::int64_t i = 0; i < n; ++i) store(kernel.block, v + i, word, bits[i]);
  }
}

}  // namespace

void select_elite_on_cpu(const SelectElite& kernel, kiln::Queue& queue) {
  if (!kernel.control->active(0)) return;
  queue.for_each_on_host(kernel.populations.size,
                         [&](std::int64_t population) { select(kernel, population); });
}

void move_probabilities_on_cpu(const MoveProbabilities& kernel, kiln::Queue& queue) {
  if (!kernel.control->active(0)) return;
  const std::int64_t tasks = tasks_of(kernel.block.variables);
  queue.for_each_on_host(kernel.populations.size * tasks, [&](std::int64_t task) {
    const std::int64_t begin = task % tasks * variables_per_task;
    move(kernel, task / tasks, begin, std::min(begin + variables_per_task, kernel.block.variables));
  });
}

void draw_states_on_cpu(const DrawStates& kernel, kiln::Queue& queue) {
  if (!kernel.control->active(0)) return;
  const std::int64_t words = kernel.block.words();
  queue.for_each_on_host(words * tasks_of(kernel.block.variables), [&](std::int64_t task) {
    const std::int64_t begin = task / words * variables_per_task;
    draw(kernel, task % words, begin, std::min(begin + variables_per_task, kernel.block.variables));
  });
}

}  // namespace cross_entropy
