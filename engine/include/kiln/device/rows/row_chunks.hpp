// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rows/row_states.hpp"

// The reductions of a chunk of a row. A chunk has fold(identity, take): it calls take(part, x, y)
// for each element x, and the element y of the other matrix, with the part of its accumulator, and
// returns to all threads the parts as the tree over accumulators merges them (row_tree.hpp).
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
  template <class Chunk>
  KILN_HD static State of(const Chunk& chunk) {
    return chunk.fold(State{}, [](State& part, double x, double) { part.add(x); });
  }
};

/// In three passes: the range, the mean, the deviations from the mean. The mean is that of the
/// distances from the least number, so that equal numbers have no deviation at all.
/// @tparam finite_only  numbers that are not finite are left out
template <bool finite_only>
struct MomentsOfChunk {
  using State = RowMoments;

  struct Range {
    double least = exact::infinity(), most = -exact::infinity();
    KILN_HD void take(double x) {
      least = x < least ? x : least;
      most = x > most ? x : most;
    }
    KILN_HD void merge(const Range& after) {
      least = after.least < least ? after.least : least;
      most = after.most > most ? after.most : most;
    }
    KILN_HD double magnitude() const {
      return magnitude_of(least) > magnitude_of(most) ? magnitude_of(least) : magnitude_of(most);
    }
  };
  struct Sum {
    double count = 0, sum = 0;
    KILN_HD void merge(const Sum& after) {
      count = exact::add(count, after.count);
      sum = exact::add(sum, after.sum);
    }
  };
  struct Deviations {
    double sum = 0, squares = 0;
    KILN_HD void merge(const Deviations& after) {
      sum = exact::add(sum, after.sum);
      squares = exact::add(squares, after.squares);
    }
  };

  KILN_HD static bool counts(double x) { return !finite_only || is_finite_number(x); }

  template <class Chunk>
  KILN_HD static State of(const Chunk& chunk) {
    const Range range = chunk.fold(Range{}, [](Range& part, double x, double) {
      if (counts(x)) part.take(x);
    });
    RowMoments state;
    state.exponent = RowMoments::exponent_of(range.magnitude());
    const double scale = RowMoments::power(-state.exponent);
    const double least = exact::mul(range.least, scale);
    const Sum sum = chunk.fold(Sum{}, [=](Sum& part, double x, double) {
      const bool taken = counts(x);
      part.count = exact::add(part.count, taken ? 1.0 : 0.0);
      part.sum = exact::add(part.sum, taken ? exact::sub(exact::mul(x, scale), least) : 0.0);
    });
    if (sum.count == 0) return RowMoments{};
    const double first = exact::add(least, exact::div(sum.sum, sum.count));
    const Deviations all = chunk.fold(Deviations{}, [=](Deviations& part, double x, double) {
      const double away = counts(x) ? exact::sub(exact::mul(x, scale), first) : 0.0;
      part.sum = exact::add(part.sum, away);
      part.squares = exact::add(part.squares, exact::mul(away, away));
    });
    // What rounding of the mean has left.
    const double rest = exact::div(all.sum, sum.count);
    state.count = sum.count;
    state.mean = first;
    state.rest = rest;
    const double squares = exact::sub(all.squares, exact::mul(all.sum, rest));
    state.squares = squares < 0 ? 0 : squares;
    return state;
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
