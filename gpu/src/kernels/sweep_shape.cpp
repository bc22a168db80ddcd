// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "sweep_shape.hpp"

#include <algorithm>
#include <charconv>

namespace kiln::cuda {
namespace {

// Warps that a multiprocessor needs to hide the latency of shared memory and of the model's rows.
constexpr int busy_warps = 32;
int most_warps(int words) { return words == 4 ? 8 : 16; }  // as the kernel is compiled

std::int64_t bytes_of(std::int64_t sites, int words) { return sites * words * 4; }

}  // namespace

SweepShape choose_sweep_shape(std::int64_t words, std::int64_t sites, std::int64_t quads_per_class,
                              bool sequential, const SweepLimits& limits) {
  SweepShape shape;
  shape.in_shared = bytes_of(sites, 1) <= limits.shared_bytes;
  for (const int candidate : {4, 2}) {
    const bool fits = words % candidate == 0 && 2 * bytes_of(sites, candidate) <=
                                                    limits.shared_bytes + limits.shared_bytes / 8;
    // With fewer blocks than multiprocessors a part of the device would idle.
    if (fits && words / candidate >= limits.multiprocessors) {
      shape.words_per_block = candidate;
      break;
    }
  }
  if (sequential) return shape;  // one warp walks the sites in order
  const std::int64_t blocks = words / shape.words_per_block;
  const std::int64_t by_memory =
      shape.in_shared ? std::max<std::int64_t>(
                            1, limits.shared_bytes / std::max<std::int64_t>(
                                                         1, bytes_of(sites, shape.words_per_block)))
                      : 16;
  const std::int64_t by_count =
      std::max<std::int64_t>(1, (blocks + limits.multiprocessors - 1) / limits.multiprocessors);
  const std::int64_t resident = std::min(by_memory, by_count);
  const std::int64_t wanted = std::max<std::int64_t>(1, busy_warps / resident);
  const std::int64_t useful = std::max<std::int64_t>(1, quads_per_class);
  shape.warps = static_cast<int>(
      std::clamp<std::int64_t>(std::min(wanted, useful), 1, most_warps(shape.words_per_block)));
  return shape;
}

std::optional<SweepShape> parse_sweep_shape(std::string_view text) {
  SweepShape shape;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shape.words_per_block);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, shape.warps);
  if (second.ec != std::errc()) return std::nullopt;
  shape.in_shared = second.ptr == end;
  const bool known =
      shape.words_per_block == 1 || shape.words_per_block == 2 || shape.words_per_block == 4;
  if (!known || shape.warps < 1 || shape.warps > (shape.words_per_block == 4 ? 8 : 32))
    return std::nullopt;
  if (second.ptr != end && std::string_view(second.ptr, 1) != "g") return std::nullopt;
  return shape;
}

}  // namespace kiln::cuda
