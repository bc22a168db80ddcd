// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/space.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"

namespace kiln {

const char* to_string(BlockKind kind) noexcept {
  switch (kind) {
    case BlockKind::spin:
      return "spin";
    case BlockKind::binary:
      return "binary";
    case BlockKind::category:
      return "category";
    case BlockKind::integer:
      return "integer";
    case BlockKind::real:
      return "real";
    case BlockKind::permutation:
      return "permutation";
  }
  return "?";
}

const char* to_string(Layout layout) noexcept {
  switch (layout) {
    case Layout::packed32:
      return "packed32";
    case Layout::i8:
      return "i8";
    case Layout::i32:
      return "i32";
    case Layout::f32:
      return "f32";
    case Layout::f64:
      return "f64";
  }
  return "?";
}

bool Block::has_walls() const {
  const auto walled = [](const Bounds& one) {
    return std::isfinite(one.lower) || std::isfinite(one.upper);
  };
  return walled({lower, upper}) || std::ranges::any_of(box, walled);
}

bool can_store(Layout layout, const Block& block) noexcept {
  switch (layout) {
    case Layout::packed32:
      return block.kind == BlockKind::spin || block.kind == BlockKind::binary;
    case Layout::i8:
      return block.kind != BlockKind::real && block.kind != BlockKind::permutation &&
             block.lower >= -128 && block.upper <= 127;
    case Layout::i32:
      return block.kind != BlockKind::real;
    case Layout::f32:
      // beyond 2^24 single precision skips integers
      return block.kind == BlockKind::real ||
             (block.lower >= -16777216.0 && block.upper <= 16777216.0 && block.count <= 16777216);
    case Layout::f64:
      return true;
  }
  return false;
}

namespace {

bool is_int32(double x) { return std::floor(x) == x && x >= INT32_MIN && x <= INT32_MAX; }

// Whether bounds that are ordered are bounds of the kind.
bool belongs(const Block& block) {
  const auto is = [&](double lower, double upper) {
    return block.lower == lower && block.upper == upper;
  };
  switch (block.kind) {
    case BlockKind::spin:
      return is(-1, 1);
    case BlockKind::binary:
      return is(0, 1);
    case BlockKind::category:
      return block.lower == 0 && is_int32(block.upper);
    case BlockKind::integer:
      return is_int32(block.lower) && is_int32(block.upper);
    case BlockKind::permutation:
      return is(0, static_cast<double>(block.count) - 1);
    case BlockKind::real:
      return true;
  }
  return false;
}

void check_bounds(const Block& block, const Bounds& bounds) {
  if (bounds.lower <= bounds.upper) return;  // neither is NaN
  throw InvalidArgument("space.bounds", std::string("the bounds of a block of kind ") +
                                            to_string(block.kind) +
                                            " are not ordered: " + std::to_string(bounds.lower) +
                                            " and " + std::to_string(bounds.upper));
}

Bounds hull_of(const std::vector<Bounds>& box) {
  Bounds hull = box.front();
  for (const Bounds& one : box) {
    hull.lower = std::min(hull.lower, one.lower);
    hull.upper = std::max(hull.upper, one.upper);
  }
  return hull;
}

void check_box(const Block& block) {
  if (block.box.empty()) return;
  if (block.kind != BlockKind::real) {
    throw InvalidArgument("space.box", std::string("a block of kind ") + to_string(block.kind) +
                                           " has a box, but only reals can have a box");
  }
  if (static_cast<std::int64_t>(block.box.size()) != block.count) {
    throw InvalidArgument("space.box", "a box has " + std::to_string(block.box.size()) +
                                           " intervals, but its block has " +
                                           std::to_string(block.count) + " variables");
  }
  for (const Bounds& one : block.box) check_bounds(block, one);
  if (hull_of(block.box) != Bounds{block.lower, block.upper}) {
    throw InvalidArgument("space.box",
                          "the bounds of a block are not the smallest lower bound and largest "
                          "upper bound of its box");
  }
}

}  // namespace

Space::Space(std::vector<Block> blocks, int outputs)
    : blocks_(std::move(blocks)), outputs_(outputs) {
  if (blocks_.empty()) throw InvalidArgument("space.empty", "a space needs at least one block");
  if (outputs_ < 1) throw InvalidArgument("space.outputs", "an objective needs at least one value");
  for (const Block& block : blocks_) {
    if (block.count < 1 || block.count > INT32_MAX) {
      throw InvalidArgument("space.count", std::string("a block of kind ") + to_string(block.kind) +
                                               " has " + std::to_string(block.count) +
                                               " variables; expected 1 .. 2147483647");
    }
    check_bounds(block, {block.lower, block.upper});
    if (!belongs(block)) {
      throw InvalidArgument("space.bounds",
                            "a block of kind " + std::string(to_string(block.kind)) +
                                " cannot range over " + std::to_string(block.lower) + " .. " +
                                std::to_string(block.upper));
    }
    check_box(block);
  }
}

Space Space::spins(std::int64_t n) { return Space({{BlockKind::spin, n, -1, 1}}); }
Space Space::binary(std::int64_t n) { return Space({{BlockKind::binary, n, 0, 1}}); }
Space Space::categories(std::int64_t n, std::int32_t k) {
  return Space({{BlockKind::category, n, 0, static_cast<double>(k) - 1}});
}
Space Space::integers(std::int64_t n, std::int32_t lower, std::int32_t upper) {
  return Space({{BlockKind::integer, n, static_cast<double>(lower), static_cast<double>(upper)}});
}
Space Space::reals(std::int64_t n, double lower, double upper) {
  return Space({{BlockKind::real, n, lower, upper}});
}
Space Space::reals(std::vector<Bounds> box) {
  if (box.empty()) throw InvalidArgument("space.count", "a box needs at least one interval");
  const auto n = static_cast<std::int64_t>(box.size());
  for (const Bounds& one : box) check_bounds({BlockKind::real, n}, one);
  const Bounds hull = hull_of(box);
  const bool same = std::ranges::all_of(box, [&](const Bounds& one) { return one == hull; });
  if (same) box.clear();
  return Space({{BlockKind::real, n, hull.lower, hull.upper, std::move(box)}});
}
Space Space::permutation(std::int64_t n) {
  return Space({{BlockKind::permutation, n, 0, static_cast<double>(n) - 1}});
}

std::int64_t Space::variables() const noexcept {
  std::int64_t n = 0;
  for (const Block& block : blocks_) n += block.count;
  return n;
}

}  // namespace kiln
