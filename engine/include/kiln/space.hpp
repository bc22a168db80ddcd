// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// The values of the variables of a block.
enum class BlockKind : std::uint8_t {
  spin,         ///< -1 or +1
  binary,       ///< 0 or 1
  category,     ///< 0 .. upper, unordered
  integer,      ///< lower .. upper, ordered
  real,         ///< the interval [lower, upper]; unbounded where a bound is infinite
  permutation,  ///< an ordering of 0 .. count-1
};

KILN_API const char* to_string(BlockKind) noexcept;

/// The interval of a real variable.
struct Bounds {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// `count` variables of one kind. Bounds hold for each variable of the block, unless a block of
/// reals has a box of intervals.
struct KILN_API Block {
  BlockKind kind = BlockKind::spin;
  std::int64_t count = 0;
  double lower = 0;
  double upper = 0;
  /// [count] intervals of reals that differ: lower and upper are then the smallest and the largest
  /// bounds. Empty: all have lower and upper.
  std::vector<Bounds> box = {};

  Bounds bounds(std::int64_t variable) const {
    return box.empty() ? Bounds{lower, upper} : box[static_cast<std::size_t>(variable)];
  }
  /// Whether any variable has a finite bound.
  bool has_walls() const;
  friend bool operator==(const Block&, const Block&) = default;
};

/// The set of states of an objective: its blocks in order, and the number of values.
class KILN_API Space {
 public:
  Space() = default;
  /// @throws InvalidArgument if a block has no variables, or its bounds are not ordered or not
  /// valid for its kind (spins -1 .. 1, bits 0 .. 1, whole numbers, 0 .. count - 1 for
  /// permutations), or it has a box without exactly one interval for each of its reals.
  explicit Space(std::vector<Block> blocks, int outputs = 1);

  static Space spins(std::int64_t n);
  static Space binary(std::int64_t n);
  static Space categories(std::int64_t n, std::int32_t k);
  static Space integers(std::int64_t n, std::int32_t lower, std::int32_t upper);
  static Space reals(std::int64_t n, double lower, double upper);
  /// Reals, one for each interval.
  static Space reals(std::vector<Bounds> box);
  static Space permutation(std::int64_t n);

  const std::vector<Block>& blocks() const noexcept { return blocks_; }
  int outputs() const noexcept { return outputs_; }
  /// Number of variables in all blocks.
  std::int64_t variables() const noexcept;

 private:
  std::vector<Block> blocks_;
  int outputs_ = 1;
};

/// The values of one block on the host: int8 for spins and bits, int32 for categories, integers and
/// permutations, double for reals.
using BlockValues =
    std::variant<std::vector<std::int8_t>, std::vector<std::int32_t>, std::vector<double>>;
using BlockSpan = std::variant<std::span<const std::int8_t>, std::span<const std::int32_t>,
                               std::span<const double>>;

/// One state on the host, in canonical form: one list of values per block of its space.
using State = std::vector<BlockValues>;
/// A borrowed state.
using StateSpan = std::span<const BlockSpan>;

/// The storage of a block in a batch.
enum class Layout : std::uint8_t {
  packed32,  ///< [variable][word of 32 replicas], one bit each; bit 0 is spin +1 or binary 0
  i8,        ///< [variable][slot]
  i32,       ///< [variable][slot]
  f32,       ///< [dimension][slot]
  f64,       ///< [dimension][slot]
};

KILN_API const char* to_string(Layout) noexcept;

/// Whether `layout` stores values of `kind` without loss (f32 counts as lossless for reals).
KILN_API bool can_store(Layout, const Block&) noexcept;

}  // namespace kiln
