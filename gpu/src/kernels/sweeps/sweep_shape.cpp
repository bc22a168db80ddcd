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
constexpr std::int64_t slice_warps = 16;
constexpr std::int64_t slot_bytes = 32 * 16;  // of a word, beside its states

std::int64_t bytes_of(std::int64_t sites, int words) { return sites * words * 4; }

}  // namespace

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

std::optional<SweepShape> choose_slice_shape(const SliceDemand& demand, const SweepLimits& limits) {
  SweepShape shape;
  shape.in_slices = true;
  const auto bytes = [&](int words) {
    return demand.table_bytes + slot_bytes * words + bytes_of(demand.variables + 1, words);
  };
  const auto blocks = [&](int words) { return (demand.words + words - 1) / words; };
  shape.words_per_block = 8;
  while (shape.words_per_block > 2 && (bytes(shape.words_per_block) > limits.shared_bytes ||
                                       blocks(shape.words_per_block) < limits.multiprocessors)) {
    shape.words_per_block /= 2;
  }
  shape.in_shared = bytes(shape.words_per_block) <= limits.shared_bytes;
  if (!shape.in_shared) shape.words_per_block = 8;
  const std::int64_t n_blocks = blocks(shape.words_per_block);
  if (n_blocks < limits.multiprocessors / 2) return std::nullopt;
  const std::int64_t by_count = (n_blocks + limits.multiprocessors - 1) / limits.multiprocessors;
  const std::int64_t by_memory =
      shape.in_shared ? limits.shared_bytes / bytes(shape.words_per_block) : slice_warps;
  const std::int64_t resident = std::clamp<std::int64_t>(std::min(by_memory, by_count), 1, 4);
  const std::int64_t chunks =
      std::max<std::int64_t>(1, demand.quads_per_class * shape.words_per_block / 8);
  shape.warps = static_cast<int>(
      std::clamp<std::int64_t>(std::min(slice_warps / resident, chunks), 1, slice_warps));
  return shape;
}

std::optional<SweepShape> parse_sweep_shape(std::string_view text) {
  SweepShape shape;
  shape.in_slices = text.starts_with('s');
  if (shape.in_slices) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shape.words_per_block);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, shape.warps);
  if (second.ec != std::errc()) return std::nullopt;
  shape.in_shared = second.ptr == end;
  const int words = shape.words_per_block;
  const bool known =
      shape.in_slices ? words == 2 || words == 4 || words == 8 : words == 1 || words == 2;
  const auto most = shape.in_slices ? slice_warps : max_warps;
  if (!known || shape.warps < 1 || shape.warps > most) return std::nullopt;
  if (second.ptr != end && std::string_view(second.ptr, 1) != "g") return std::nullopt;
  if (shape.in_slices && !shape.in_shared && words != 8) return std::nullopt;
  return shape;
}

}  // namespace kiln::cuda
