// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"

// The order in which numbers of a row are added up: a function of the length of the row alone, so
// that every launch and every number of threads gives the same bits.
//
// A row is cut into chunks of 1024 elements. Element i of a chunk goes to accumulator i mod 128,
// in the order of i. Accumulator a takes in accumulator a + 64, then a + 32, and so on to a + 1.
// Chunk c takes in chunk c + 1 where c is even, then c + 2 where c is a multiple of 4, and so on;
// a chunk that does not exist is left out.
namespace kiln {

struct RowTree {
  static constexpr int accumulators = 128;
  static constexpr int chunk = 1024;
  static constexpr int rounds = chunk / accumulators;

  KILN_HD static std::int64_t chunks_of(std::int64_t columns) {
    return (columns + chunk - 1) / chunk;
  }
  /// Elements of a chunk.
  KILN_HD static int elements_of(std::int64_t number, std::int64_t columns) {
    const std::int64_t left = columns - number * chunk;
    return left < chunk ? static_cast<int>(left) : chunk;
  }
};

/// Merges what comes one after the other, as the tree over chunks does. The first must be at a
/// multiple of the number that is merged, rounded up to a power of two.
template <class State>
class TreeStack {
 public:
  KILN_HD void push(State state) {
    for (std::int64_t place = count_++; (place & 1) != 0; place >>= 1) {
      State left = stack_[--depth_];
      left.merge(state);
      state = left;
    }
    stack_[depth_++] = state;
  }
  /// Everything that was pushed; the identity if that is nothing.
  KILN_HD State total() const {
    if (depth_ == 0) return State{};
    State right = stack_[depth_ - 1];
    for (int level = depth_ - 2; level >= 0; --level) {
      State left = stack_[level];
      left.merge(right);
      right = left;
    }
    return right;
  }

 private:
  State stack_[48];
  std::int64_t count_ = 0;
  int depth_ = 0;
};

/// Chunks of a group, of which a GPU block leaves one state in room, are at least so many.
inline constexpr std::int64_t min_chunks_of_group = 8;
/// Bytes of a state in room.
inline constexpr std::int64_t row_state_bytes = 48;

/// Bytes that a GPU needs to reduce rows: a state for each group of chunks of long rows, and one
/// for each row.
inline std::int64_t row_room_bytes(std::int64_t rows, std::int64_t columns) {
  const std::int64_t chunks = RowTree::chunks_of(columns);
  if (chunks <= min_chunks_of_group) return 0;
  const std::int64_t groups = (chunks + min_chunks_of_group - 1) / min_chunks_of_group;
  return rows * (groups + 1) * row_state_bytes;
}

}  // namespace kiln
