// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rows/row_states.hpp"

// The reductions of a chunk of a row. A chunk has fold(identity, take): it calls take(part, x, y)
// for each element x, and the element y of the other matrix, with the part of its accumulator, and
// returns to all threads the parts as the tree over accumulators merges them (row_tree.hpp). It
// also has its first element, front(), and largest(f): the largest of the unsigned numbers f(x),
// where f(0) is 0.
namespace kiln {

struct SumOfChunk {
  using State = CompensatedSum;
  template <class Chunk>
  KILN_HD static State of(const Chunk& chunk) {
    return chunk.fold(State{}, [](State& part, double x, double) { part.add(x); });
  }
};

struct DotOfChunk {
  using State = CompensatedSum;
  template <class Chunk>
  KILN_HD static State of(const Chunk& chunk) {
    return chunk.fold(State{}, [](State& part, double x, double y) { part.add(exact::mul(x, y)); });
  }
};

struct SquaresOfChunk {
  using State = CompensatedSum;
  template <class Chunk>
  KILN_HD static State of(const Chunk& chunk) {
    return chunk.fold(State{}, [](State& part, double x, double) { part.add(exact::mul(x, x)); });
  }
};

struct NormOfChunk {
  using State = ScaledSquares;

  struct Squares {
    double sum = 0;
    KILN_HD void merge(const Squares& after) { sum = exact::add(sum, after.sum); }
  };

  /// The words of numbers other than 0, in descending order.
  KILN_HD static std::uint32_t rank_of_small(double x) { return x == 0 ? 0 : ~magnitude_word(x); }

  template <class Chunk>
  KILN_HD static State of(const Chunk& chunk) {
    const bool large = chunk.largest(magnitude_word) >= MagnitudeWords::large_from;
    if (large || chunk.largest(rank_of_small) > ~MagnitudeWords::small_below) {
      return chunk.fold(State{}, [](State& part, double x, double) { part.add(x); });
    }
    const Squares squares = chunk.fold(Squares{}, [](Squares& part, double x, double) {
      part.sum = exact::add(part.sum, exact::mul(x, x));
    });
    return {0, squares.sum, 0};
  }
};

/// The mean of the distances from one of the numbers, so that equal numbers have no deviation at
/// all, and the deviations from the mean; numbers far from 1 are scaled before.
/// @tparam finite_only  numbers that are not finite are left out
template <bool finite_only>
struct MomentsOfChunk {
  using State = RowMoments;

  struct Least {
    double value = exact::infinity();
    KILN_HD void merge(const Least& after) { value = after.value < value ? after.value : value; }
  };
  struct Sum {
    double count = 0, sum = 0;
    KILN_HD void merge(const Sum& after) {
      count = exact::add(count, after.count);
      sum = exact::add(sum, after.sum);
    }
  };
  struct Distances {
    double sum = 0;
    KILN_HD void merge(const Distances& after) { sum = exact::add(sum, after.sum); }
  };
  struct Deviations {
    double sum = 0, squares = 0;
    KILN_HD void merge(const Deviations& after) {
      sum = exact::add(sum, after.sum);
      squares = exact::add(squares, after.squares);
    }
  };

  KILN_HD static bool counts(double x) { return !finite_only || is_finite_number(x); }
  KILN_HD static std::uint32_t word_of_finite(double x) {
    const std::uint32_t word = magnitude_word(x);
    return word < MagnitudeWords::not_finite ? word : 0;
  }

  // From the number of values, a number near their mean, and the deviations from it.
  KILN_HD static State state_of(double count, double first, const Deviations& all) {
    State state;
    state.count = count;
    state.mean = first;
    // What rounding of the mean has left.
    state.rest = exact::div(all.sum, count);
    const double squares = exact::sub(all.squares, exact::mul(all.sum, state.rest));
    state.squares = squares < 0 ? 0 : squares;
    return state;
  }

  /// All numbers count, and none is scaled.
  template <class Chunk>
  KILN_HD static State of_plain(const Chunk& chunk) {
    const double from = chunk.front(), count = chunk.count;
    const Distances apart = chunk.fold(Distances{}, [from](Distances& part, double x, double) {
      part.sum = exact::add(part.sum, exact::sub(x, from));
    });
    const double first = exact::add(from, exact::div(apart.sum, count));
    State state = state_of(count, first,
                           chunk.fold(Deviations{}, [first](Deviations& part, double x, double) {
                             const double away = exact::sub(x, first);
                             part.sum = exact::add(part.sum, away);
                             part.squares = exact::add(part.squares, exact::mul(away, away));
                           }));
    state.exponent = 0;
    return state;
  }

  template <class Chunk>
  KILN_HD static State of_scaled(const Chunk& chunk, std::int64_t exponent) {
    const double scale = RowMoments::power(-exponent);
    const Least least = chunk.fold(Least{}, [](Least& part, double x, double) {
      if (counts(x)) part.merge({x});
    });
    const double from = exact::mul(least.value, scale);
    const Sum sum = chunk.fold(Sum{}, [=](Sum& part, double x, double) {
      const bool taken = counts(x);
      part.count = exact::add(part.count, taken ? 1.0 : 0.0);
      part.sum = exact::add(part.sum, taken ? exact::sub(exact::mul(x, scale), from) : 0.0);
    });
    if (sum.count == 0) return RowMoments{};
    const double first = exact::add(from, exact::div(sum.sum, sum.count));
    State state = state_of(
        sum.count, first, chunk.fold(Deviations{}, [=](Deviations& part, double x, double) {
          const double away = counts(x) ? exact::sub(exact::mul(x, scale), first) : 0.0;
          part.sum = exact::add(part.sum, away);
          part.squares = exact::add(part.squares, exact::mul(away, away));
        }));
    state.exponent = exponent;
    return state;
  }

  template <class Chunk>
  KILN_HD static State of(const Chunk& chunk) {
    std::uint32_t largest = chunk.largest(magnitude_word);
    const bool all = !finite_only || largest < MagnitudeWords::not_finite;
    if (!all) largest = chunk.largest(word_of_finite);
    const std::int64_t exponent = RowMoments::exponent_of(largest);
    return all && exponent == 0 ? of_plain(chunk) : of_scaled(chunk, exponent);
  }
};

struct SoftmaxOfChunk {
  using State = SoftmaxSum;

  struct Largest {
    double value = -exact::infinity();
    KILN_HD void merge(const Largest& after) { value = SoftmaxSum::larger(value, after.value); }
  };
  struct Sum {
    double value = 0;
    KILN_HD void merge(const Sum& after) { value = exact::add(value, after.value); }
  };

  template <class Chunk>
  KILN_HD static State of(const Chunk& chunk) {
    const double largest =
        chunk
            .fold(Largest{}, [](Largest& part, double x,
                                double) { part.value = SoftmaxSum::larger(part.value, x); })
            .value;
    const Sum sum = chunk.fold(Sum{}, [largest](Sum& part, double x, double) {
      part.value = exact::add(part.value, SoftmaxSum::term(x, largest));
    });
    return {largest, sum.value};
  }
};

}  // namespace kiln
