// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "dense_shape.hpp"

#include <charconv>

#include "kiln/kernels/sweeps/sign_rows.hpp"

namespace kiln::cuda {
namespace {

constexpr std::int64_t bytes_of_fields = 8192;  // of a warp, in 64 registers
constexpr int max_warps = 4;
constexpr int max_replicas = 16;  // 512 threads of 128 registers
constexpr int warps_of_multiprocessor = max_replicas;
// A warp of fewer sites has little to do between two meetings. K2000 gains 14 % with 128 replicas.
constexpr std::int64_t sites_to_share = 512;

// Of a kernel by signs: four words of 1024 sites, and planes for all narrow models beside several
// warps.
constexpr std::int64_t signs_of_warp = 4096;
constexpr std::int32_t planes_of_several = 15;

// A field has twice the bytes of a weight.
std::int64_t sites_of_warp(const DenseDemand& demand) {
  return bytes_of_fields / (2 * demand.bytes_per_weight);
}

bool fits(const DenseShape& shape, const DenseDemand& demand, const SweepLimits& limits) {
  return shared_bytes_of(shape, demand) <= limits.shared_bytes;
}

// As many replicas share a block, and its cache, as fit and leave no multiprocessor without work.
int replicas_of_block(DenseShape shape, const DenseDemand& demand, const SweepLimits& limits) {
  int& replicas = shape.replicas_per_block;
  replicas = max_replicas;
  while (replicas > 1 && (!fits(shape, demand, limits) ||
                          demand.replicas < std::int64_t{replicas} * limits.multiprocessors)) {
    replicas /= 2;
  }
  return replicas;
}

bool can_sweep_signs(const DenseShape& shape, const DenseDemand& demand) {
  if (demand.sign_planes == 0 || demand.heat_bath) return false;
  if (demand.sites > signs_of_warp * shape.warps) return false;
  const SignRows rows{static_cast<std::int32_t>(demand.sites)};
  return shape.warps == 1 ||
         (rows.groups() > 1 && rows.kept_words(planes_of_several) <= rows.n_sites);
}

}  // namespace

std::int64_t shared_bytes_of(const DenseShape& shape, const DenseDemand& demand) {
  if (!shape.by_warps) return 0;
  const std::int64_t replicas = shape.replicas_per_block, warps = replicas * shape.warps;
  if (!shape.by_signs) {
    constexpr std::int64_t stretches_at_once = 4;
    const std::int64_t stretches = (demand.sites + SignRows::stretch - 1) / SignRows::stretch;
    const std::int64_t at_once = stretches_at_once * shape.warps;
    const std::int64_t of_warp = (stretches + at_once - 1) / at_once * stretches_at_once;
    return 4 * demand.sites + 2 * of_warp * 32 * warps;
  }
  const SignRows rows{static_cast<std::int32_t>(demand.sites)};
  const std::int64_t words_of_lane = shape.warps > 1 || rows.groups() > 2 ? 4 : rows.groups();
  const std::int64_t copies = warps * sign_rows_at_once * words_of_lane * SignRows::lanes;
  const std::int64_t blocks = shape.warps == 1 ? demand.sites * SignRows::block_words : 0;
  return 4 * ((replicas + 1) * rows.row_words() + copies + blocks);
}

bool can_sweep(const DenseShape& shape, const DenseDemand& demand, const SweepLimits& limits) {
  if (!fits(shape, demand, limits)) return false;
  if (shape.by_signs) return can_sweep_signs(shape, demand);
  if (!shape.by_warps) return true;
  return demand.bytes_per_weight <= 2 && !demand.heat_bath &&
         demand.sites <= sites_of_warp(demand) * shape.warps;
}

DenseShape choose_dense_shape(const DenseDemand& demand, const SweepLimits& limits) {
  DenseShape shape{.by_warps = true};
  shape.by_signs = demand.sign_planes > 0 && !demand.heat_bath;
  if (shape.by_signs) {
    while (demand.sites > signs_of_warp * shape.warps) shape.warps *= 2;
    if (shape.warps == 1) {
      shape.replicas_per_block = replicas_of_block(shape, demand, limits);
      if (!fits(shape, demand, limits))
        shape.warps = 2;  // they leave the diagonal blocks where they are
    }
    if (shape.warps <= max_warps && can_sweep(shape, demand, limits)) return shape;
    shape = {.by_warps = true};
  }
  const std::int64_t all_at_once = std::int64_t{warps_of_multiprocessor} * limits.multiprocessors;
  const auto more_help = [&] {
    return demand.sites > sites_of_warp(demand) * shape.warps ||
           (demand.sites > sites_to_share * shape.warps &&
            2 * shape.warps * demand.replicas <= all_at_once);
  };
  while (shape.warps < max_warps && more_help()) shape.warps *= 2;
  if (!can_sweep(shape, demand, limits)) return {};
  if (shape.warps > 1) return shape;
  shape.replicas_per_block = replicas_of_block(shape, demand, limits);
  return shape;
}

std::optional<DenseShape> parse_dense_shape(std::string_view text) {
  if (text == "b") return DenseShape{};
  if (!text.starts_with('w') && !text.starts_with('v')) return std::nullopt;
  DenseShape shape{.by_warps = true, .by_signs = text.starts_with('v')};
  text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shape.warps);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, shape.replicas_per_block);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  if (shape.warps < 1 || shape.warps > max_warps || shape.warps == 3) return std::nullopt;
  const int most = shape.warps == 1 ? max_replicas : 1;
  const int replicas = shape.replicas_per_block;
  if (replicas < 1 || replicas > most || 32 % replicas != 0) return std::nullopt;
  return shape;
}

}  // namespace kiln::cuda
