// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "sweep_shape.hpp"

#include <algorithm>
#include <charconv>

#include "device_limits.hpp"

namespace kiln::cuda {
namespace {

// Warps that a multiprocessor needs to hide the latency of shared memory and of the model's rows.
constexpr std::int64_t busy_warps = 32;
// A warp that has this many quads of each class to walk waits little at the barrier behind it.
constexpr std::int64_t quads_per_warp = 6;
constexpr std::int64_t enough_warps = 16;
constexpr std::int64_t max_warps = 32;
// A sweep in slices has up to 128 registers a thread.
constexpr int slice_warps = 16;
constexpr std::int64_t word_bytes = 32 * 32;        // of a word, beside its states
constexpr std::int64_t plane_word_bytes = 18 * 32;  // the same by planes
constexpr std::int64_t many_quads = 1024;

std::int64_t bytes_of(std::int64_t sites, int words) { return sites * words * 4; }

}  // namespace

SweepShape SweepShape::with(int words, int of_block) const {
  SweepShape shape = *this;
  shape.words_per_block = words;
  shape.warps = of_block;
  shape.blocks = 2 * of_block <= slice_warps ? 2 : 1;
  return shape;
}

SweepLimits sweep_limits_of(Queue& queue) {
  const DeviceLimits& of = limits_of(queue);
  return {of.multiprocessors, of.shared_bytes - 2048};  // the totals of a block take the rest
}

SweepShape choose_sweep_shape(std::int64_t words, std::int64_t sites, std::int64_t quads_per_class,
                              bool sequential, const SweepLimits& limits) {
  SweepShape shape;
  shape.in_shared = bytes_of(sites, 1) <= limits.shared_bytes;
  // Two words halve the reading of the model; one word leaves more blocks for a small batch.
  const bool two = words % 2 == 0 && words / 2 >= limits.multiprocessors &&
                   2 * bytes_of(sites, 2) <= limits.shared_bytes;
  shape.words_per_block = two ? 2 : 1;
  if (sequential) return shape;  // one warp walks the sites in order

  const std::int64_t blocks = words / shape.words_per_block;
  const std::int64_t by_count = (blocks + limits.multiprocessors - 1) / limits.multiprocessors;
  const std::int64_t bytes = bytes_of(sites, shape.words_per_block);
  const std::int64_t by_memory =
      shape.in_shared ? limits.shared_bytes / std::max<std::int64_t>(1, bytes) : busy_warps;
  const std::int64_t resident =
      std::clamp<std::int64_t>(std::min(by_memory, by_count), 1, busy_warps);
  const std::int64_t to_fill = busy_warps / resident;
  const std::int64_t to_share = std::min(quads_per_class / quads_per_warp, enough_warps);
  const std::int64_t useful = std::clamp<std::int64_t>(quads_per_class, 1, max_warps);
  shape.warps = static_cast<int>(std::clamp<std::int64_t>(std::max(to_fill, to_share), 1, useful));
  return shape;
}

SweepShape choose_slice_shape(const SliceDemand& demand, const SweepLimits& limits) {
  const auto fits = [&](int words, int blocks) {
    const std::int64_t bytes =
        demand.table_bytes + word_bytes * words + bytes_of(demand.variables + 1, words);
    return bytes * blocks <= limits.shared_bytes;
  };
  const auto blocks_of = [&](int words) { return (demand.words + words - 1) / words; };
  // The most words that fit and leave no multiprocessor without its blocks; 0: none.
  const auto words_of_block = [&](int blocks) {
    int words = 8;
    while (words >= 2 && (!fits(words, blocks) ||
                          blocks_of(words) < std::int64_t{blocks} * limits.multiprocessors)) {
      words /= 2;
    }
    return words >= 2 ? words : 0;
  };
  SweepShape shape;
  shape.in_slices = true;
  const int of_two = words_of_block(2), of_one = words_of_block(1);
  shape.blocks = of_two >= 4 || (of_two > 0 && of_one < 4) ? 2 : 1;
  shape.words_per_block = shape.blocks == 2 ? of_two : of_one;
  if (shape.words_per_block == 0) {  // too few replicas, or too many variables
    const std::int64_t tasks = demand.quads_per_class * blocks_of(8);
    const bool many_sites = tasks >= slice_warps * std::int64_t{limits.multiprocessors};
    shape.in_shared = fits(2, 1) && !many_sites;
    shape.words_per_block = shape.in_shared ? 2 : 8;
    shape.blocks = shape.in_shared ? 1 : 2;
  }
  shape.warps = slice_warps / shape.blocks;
  return shape;
}

SweepShape choose_plane_shape(const SliceDemand& demand, const SweepLimits& limits) {
  const auto fits = [&](int words) {
    const std::int64_t bytes =
        demand.table_bytes + plane_word_bytes * words + bytes_of(demand.variables + 1, words);
    return bytes <= limits.shared_bytes;
  };
  const auto blocks_of = [&](int words) { return (demand.words + words - 1) / words; };
  SweepShape shape;
  shape.by_planes = shape.in_slices = true;
  shape.words_per_block = 16;
  while (shape.words_per_block > 2 && (!fits(shape.words_per_block) ||
                                       blocks_of(shape.words_per_block) < limits.multiprocessors)) {
    shape.words_per_block /= 2;
  }
  const int words = shape.words_per_block;
  // Many sites are swept faster by several blocks with the same words than by a few blocks alone.
  const bool idle = 2 * blocks_of(words) < limits.multiprocessors;
  if (!fits(words) || (idle && demand.quads_per_class >= many_quads)) {
    shape.in_shared = false;
    shape.words_per_block = 8;
  }
  shape.blocks = shape.in_shared ? 1 : 2;
  shape.warps = slice_warps / shape.blocks;
  return shape;
}

std::optional<SweepShape> parse_sweep_shape(std::string_view text) {
  SweepShape shape;
  shape.by_planes = text.starts_with('p');
  shape.in_slices = text.starts_with('s') || shape.by_planes;
  if (shape.in_slices) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shape.words_per_block);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, shape.warps);
  if (second.ec != std::errc()) return std::nullopt;
  shape.in_shared = second.ptr == end;
  const int words = shape.words_per_block;
  const bool known =
      shape.in_slices ? words == 2 || words == 4 || words == 8 || (shape.by_planes && words == 16)
                      : words == 1 || words == 2;
  const auto most = shape.in_slices ? slice_warps : max_warps;
  if (!known || shape.warps < 1 || shape.warps > most) return std::nullopt;
  if (second.ptr != end && std::string_view(second.ptr, 1) != "g") return std::nullopt;
  if (shape.in_slices && !shape.in_shared && words != 8) return std::nullopt;
  shape.blocks = shape.in_slices && 2 * shape.warps <= slice_warps ? 2 : 1;
  return shape;
}

}  // namespace kiln::cuda
