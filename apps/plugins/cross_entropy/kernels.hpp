// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <kiln/device/exact_math.hpp>
#include <kiln/device/run_control.hpp>
#include <kiln/kernel_set.hpp>
#include <kiln/kernels/run/draw_ids.hpp>
#include <kiln/kernels/run/state_block.hpp>

// The kernels of a round, in their order. All give the same bits on every backend: counts are
// integers, and + - * / of probabilities are rounded once each.
namespace cross_entropy {

#define CROSS_ENTROPY_KERNELS(KERNEL) \
  KERNEL(SelectElite) KERNEL(MoveProbabilities) KERNEL(DrawStates)

KILN_COMPONENT(CrossEntropyComponent, "cross_entropy", CROSS_ENTROPY_KERNELS)

inline constexpr int word_bits = 32;

/// What a population carries from round to round. A population is a group of the batch: it fills
/// whole words of 32 replicas, unless it is the only one.
struct Population {
  std::uint64_t restarts = 0;
  std::uint64_t lowest = ~0ull;  ///< key of the highest energy of an elite, the lowest so far
  std::uint64_t stale = 0;       ///< rounds since it last fell
  std::uint32_t elite = 0;       ///< replicas in the elite of this round
  std::uint32_t begins = 0;      ///< 1: this round begins anew, from probabilities of 1/2
  std::uint32_t open = 1;        ///< 0: the probabilities have converged
  std::uint32_t unused = 0;
};

/// Words of 32 replicas that a population fills.
KILN_HD inline std::int64_t words_of(std::int64_t population_size) {
  return (population_size + word_bits - 1) / word_bits;
}

/// The values of a variable in 32 replicas, a bit for each: 1 for spin -1 and for binary 1.
KILN_HD inline std::uint32_t bits_of(const kiln::StateBlock& block, std::int64_t variable,
                                     std::int64_t word) {
  if (block.layout == kiln::Layout::packed32) {
    return block.as<const std::uint32_t>()[variable * block.words() + word];
  }
  std::uint32_t bits = 0;
  for (int bit = 0; bit < word_bits; ++bit) {
    const bool is_set = block.bit_of(block.get(variable, word * word_bits + bit));
    bits |= (is_set ? 1u : 0u) << bit;
  }
  return bits;
}

/// The canonical value of such a bit.
KILN_HD inline double value_of(kiln::BlockKind kind, bool bit) {
  if (kind == kiln::BlockKind::spin) return bit ? -1.0 : 1.0;
  return bit ? 1.0 : 0.0;
}

/// Selects the elite of each population: the `wanted` replicas of the lowest energies; of equal
/// energies the first. Replicas whose energy is no finite number are never in the elite.
///
/// It begins the round of a population. One that has converged begins anew, and so does one whose
/// elite has not become better for `patience` rounds: its highest energy has not fallen.
struct SelectElite {
  static constexpr const char* name = "select_elite";
  static constexpr int digit_bits = 8;  ///< the cut is found by digits of keys, the highest first

  kiln::View1<const double> energy;     ///< [slots]
  kiln::View1<Population> populations;  ///< [populations]
  kiln::View1<std::uint32_t> elite;     ///< [words], a bit for each replica
  std::int64_t population_size = 0;     ///< replicas of each
  std::int64_t wanted = 1;              ///< 1 .. population_size
  std::uint64_t patience = ~0ull;
  const kiln::RunControl* control = nullptr;

  /// Rises with the energy; the largest number where the energy is no finite number.
  KILN_HD std::uint64_t key(std::int64_t slot) const {
    const double e = energy[slot];
    if (!(e - e == 0)) return not_finite;
    return kiln::exact::order_key(kiln::exact::add(e, 0.0));  // -0.0 + 0.0 is 0.0
  }
  static constexpr std::uint64_t not_finite = ~0ull;  // the key of a NaN

  /// `highest`: the key of the highest energy in the elite; `not_finite` if the elite is empty.
  KILN_HD void begin_round(Population& population, std::uint32_t elite_size,
                           std::uint64_t highest) const {
    population.stale = highest < population.lowest ? 0 : population.stale + 1;
    if (highest < population.lowest) population.lowest = highest;
    const bool ends = population.open == 0 || population.stale >= patience;
    population.begins = ends ? 1 : 0;
    if (ends) {
      ++population.restarts;
      population.lowest = not_finite;
      population.stale = 0;
    }
    population.open = 0;
    population.elite = elite_size;
  }
};

/// Moves the probability of each variable of a block towards its frequency in the elite:
/// p <- (1 - smoothing) p + smoothing frequency, then into [floor, 1 - floor]. Where the round of
/// the population begins anew, p becomes 1/2.
///
/// With a `reference` variable a state stands for the one of the two, itself or with all variables
/// flipped, in which the reference has bit 0: for energies that such a flip does not change. The
/// probability of the reference begins at the floor.
struct MoveProbabilities {
  static constexpr const char* name = "move_probabilities";

  kiln::StateBlock block;
  std::int64_t first_variable = 0;         ///< number of the block's first variable in the space
  kiln::View1<const std::uint32_t> elite;  ///< [words]
  kiln::View1<Population> populations;     ///< [populations]
  kiln::View2<double> probability;    ///< [populations][variables of the space], that a bit is 1
  std::int64_t population_words = 0;  ///< words of each population
  double smoothing = 1;
  double floor = 0;
  double converged = 0;         ///< p has converged if p or 1 - p is at most this
  std::int64_t reference = -1;  ///< variable; -1: none
  const kiln::RunControl* control = nullptr;

  KILN_HD double first_probability(std::int64_t variable) const {
    return variable == reference ? floor : 0.5;
  }
  /// Where a variable has bit 1 in `ones` states of an elite.
  KILN_HD double moved(double p, std::uint32_t ones, std::uint32_t elite_size) const {
    if (elite_size == 0) return p;
    const double frequency =
        kiln::exact::div(static_cast<double>(ones), static_cast<double>(elite_size));
    const double q = kiln::exact::add(kiln::exact::mul(kiln::exact::sub(1.0, smoothing), p),
                                      kiln::exact::mul(smoothing, frequency));
    const double top = kiln::exact::sub(1.0, floor);
    return q < floor ? floor : q > top ? top : q;
  }
  KILN_HD bool is_open(double p) const {
    return p > converged && kiln::exact::sub(1.0, p) > converged;
  }
  /// The states of the elite in a word of replicas that have bit 1.
  KILN_HD std::uint32_t elite_ones(std::int64_t variable, std::int64_t word) const {
    const std::uint32_t flipped = reference < 0 ? 0 : bits_of(block, reference, word);
    return (bits_of(block, variable, word) ^ flipped) & elite[word];
  }
  /// Stores the new probability; says whether it is open.
  KILN_HD bool update(std::int64_t population, std::int64_t variable, std::uint32_t ones) const {
    const Population& now = populations[population];
    double& p = probability(population, first_variable + variable);
    p = now.begins != 0 ? first_probability(variable) : moved(p, ones, now.elite);
    return is_open(p);
  }
};

/// Draws the states of a block: each variable has bit 1 with its probability, independently.
///
/// Variable v of block b uses word v of the draw (RngDomain::user, block b) of its replica and
/// sweep. The bit is 1 if the word is below floor(2^32 p).
struct DrawStates {
  static constexpr const char* name = "draw_states";

  kiln::StateBlock block;
  std::uint8_t block_number = 0;
  std::int64_t first_variable = 0;        ///< number of the block's first variable in the space
  kiln::View2<const double> probability;  ///< [populations][variables of the space], in (0, 1)
  std::int64_t population_words = 0;      ///< words of each population
  kiln::DrawIds draw_ids;                 ///< [slots]
  const kiln::RunControl* control = nullptr;

  KILN_HD kiln::DrawName name_of(std::int64_t slot) const {
    kiln::DrawName draw = draw_ids.at(slot, control->step, kiln::RngDomain::user);
    draw.block = block_number;
    return draw;
  }
  /// Number of words that give bit 1.
  KILN_HD std::uint32_t threshold(std::int64_t word, std::int64_t variable) const {
    const double p = probability(word / population_words, first_variable + variable);
    return static_cast<std::uint32_t>(kiln::exact::mul(p, 0x1p32));
  }
  KILN_HD std::int64_t quads() const { return (block.variables + 3) / 4; }
};

}  // namespace cross_entropy
