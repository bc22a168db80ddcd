// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/sweeps/plane_order.hpp"

#include <algorithm>
#include <utility>

namespace kiln::cpu {
namespace {

constexpr int row_shapes = 256;

// A site that waits for its place. Sites whose rows have the same shape follow each other; those
// with an even sum come last. Rows of couplings -1 and 1 have at most one run of each sign.
struct Waiting {
  std::int32_t site = 0;
  std::uint8_t shape = 0;
  std::uint8_t n_planes = 0;
  bool even() const { return shape >= row_shapes / 2; }
};
Waiting waiting_site(const PairwiseView& model, std::int32_t site) {
  const SliceSite& row = model.slices.sites[site];
  const std::int32_t field = model.has_fields ? static_cast<std::int32_t>(model.field[site]) : 0;
  const NumberShape number = number_shape(row, field);
  const auto terms =
      static_cast<std::int32_t>(model.slices.sites[site + 1].first_term - row.first_term);
  std::int32_t shape = 64 + std::min(terms - 8, 63);
  if (terms < 8) {
    const std::uint32_t first =
        row.n_runs > 0 ? slice_run(model.slices.runs[row.first_run]).n_terms : 0;
    shape = 8 * terms + static_cast<std::int32_t>(std::min(first, 7u));
  }
  return {site, static_cast<std::uint8_t>((number.even ? row_shapes / 2 : 0) + shape),
          static_cast<std::uint8_t>(number.n_planes)};
}

// The parts of the memory of an order.
struct OrderMemory {
  PlanePack* packs = nullptr;
  PlanePlace* places = nullptr;
  Waiting* waiting[2] = {};
  std::size_t bytes = 0;

  OrderMemory(std::int32_t n_sites, std::int32_t n_classes, std::byte* memory) {
    const auto n = static_cast<std::size_t>(n_sites);
    const auto take = [&]<class T>(T*& part, std::size_t size) {
      if (memory != nullptr) part = reinterpret_cast<T*>(memory + bytes);
      bytes += (size * sizeof(T) + 63) / 64 * 64;
    };
    // Each class can end a pack of odd and one of even sums that is not full.
    take(packs, n / 2 + 2 * static_cast<std::size_t>(n_classes));
    take(places, n);
    take(waiting[0], n);
    take(waiting[1], n);
  }
};

// The sites of a class by shape, in waiting[1]; returns their number.
std::int32_t sort_class(const PairwiseView& model, std::int32_t c, const OrderMemory& memory) {
  Waiting* const sites = memory.waiting[0];
  std::int32_t before[row_shapes + 1] = {};
  std::int32_t n = 0;
  for (std::int32_t s = 4 * model.class_begin[c]; s < 4 * model.class_begin[c + 1]; ++s) {
    if (model.variable[s] < 0) continue;
    sites[n] = waiting_site(model, s);
    ++before[sites[n++].shape + 1];
  }
  for (int shape = 0; shape < row_shapes; ++shape) before[shape + 1] += before[shape];
  for (std::int32_t i = 0; i < n; ++i) memory.waiting[1][before[sites[i].shape]++] = sites[i];
  return n;
}

// How the terms of the places of a pack are added.
void describe_rows(const SliceView& slices, const Waiting* sites, PlanePlace* places,
                   PlanePack& to) {
  PlanePack pack = to;
  std::int64_t last = 0;  // rows begin before
  std::uint64_t any = 0;
  for (int g = 0; g < pack.n_sites; ++g) {
    const SliceSite& row = slices.sites[sites[g].site];
    std::uint64_t all = 0, positive = 0;
    for (int r = 0; r < row.n_runs; ++r) {
      const SliceRun run = slice_run(slices.runs[row.first_run + r]);
      const std::uint64_t n = std::uint64_t{run.n_terms} << (8 * run.plane);
      all += n;
      positive += run.negative ? 0 : n;
    }
    places[g] = {sites[g].site, start_of_number(row, pack.n_planes, pack.even), row.first_term, all,
                 positive};
    pack.negative = pack.negative || positive != all;
    last = std::max(last, row.first_term);
    any |= all;
  }
  std::int64_t groups = 0;  // of terms: as many as they have at most
  for (int k = 0; k < planes_of_sum && any >> (8 * k) != 0; ++k) {
    std::uint32_t most = 0, fewest = 255;
    for (int g = 0; g < pack.n_sites; ++g) {
      most = std::max(most, byte_of(places[g].n_terms, k));
      fewest = std::min(fewest, byte_of(places[g].n_terms, k));
    }
    pack.max_terms[k] = static_cast<std::uint8_t>(most);
    pack.min_terms[k] = static_cast<std::uint8_t>(fewest);
    pack.n_powers = static_cast<std::uint8_t>(k + 1);
    groups += (most + 7) / 8 * 8;
  }
  const std::int64_t n_terms = slices.sites[slices.sites.size - 1].first_term;
  pack.side_by_side = pack.n_sites > 1 && last + groups <= n_terms;
  to = pack;
}

}  // namespace

std::size_t order_bytes(std::int32_t n_sites, std::int32_t n_classes) {
  return OrderMemory(n_sites, n_classes, nullptr).bytes;
}

PlaneOrder order_for_planes(const PairwiseView& model, int sites_of_pack, std::byte* bytes) {
  const OrderMemory memory(model.n_sites, model.n_classes, bytes);
  const Waiting* const sites = memory.waiting[1];
  PlaneOrder order{memory.places, memory.packs};
  std::int32_t placed = 0;
  for (std::int32_t c = 0; c < model.n_classes; ++c) {
    const std::int32_t n = sort_class(model, c, memory);
    for (std::int32_t i = 0; i < n;) {
      PlanePack& pack = memory.packs[order.n_packs++] = {};
      pack.first = placed;
      pack.even = sites[i].even();
      const std::int32_t begin = i;
      for (; i < n && i - begin < sites_of_pack && sites[i].even() == pack.even; ++i) {
        pack.n_planes = std::max(pack.n_planes, sites[i].n_planes);
      }
      pack.n_sites = static_cast<std::int16_t>(i - begin);
      pack.ends_class = i == n;
      describe_rows(model.slices, sites + begin, memory.places + placed, pack);
      placed += pack.n_sites;
    }
  }
  return order;
}

}  // namespace kiln::cpu
