// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/sweeps/slice_tile.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/plane_draws.hpp"

#include "kernels/isa.hpp"

namespace kiln::cpu {

const SliceFunctions& slice_functions() { return KILN_VARIANT_FOR_ISA(slice); }

void tabulate_thresholds(double beta, std::int32_t max_local, int max_steps,
                         ThresholdTable& table) {
  table = {};
  const int end = std::min(max_steps + 1, ThresholdTable::max_size);
  for (int half = 1; half < end; ++half) {
    const std::uint64_t threshold =
        half > max_local ? 0 : exact::accept_threshold(exact::mul(beta, 2.0 * half));
    if (threshold > 0xFFFFFFFFu) return;  // beta is 0: every word accepts
    if (threshold == 0) {
      table.size = half < 32 ? 32 : ThresholdTable::max_size;
      return;
    }
    table.threshold[half] = static_cast<std::uint32_t>(threshold);
  }
}

namespace {

// Fills the tables of odd and of even sites: calls add(table, level, threshold) for each level that
// occurs and can be accepted, a step up of dE / 2 = 2 level + 1 + even.
template <class Table, class Add>
void tabulate_levels(double beta, std::int32_t max_local, Table* tables, Add add) {
  for (int even = 0; even < 2; ++even) {
    Table& table = tables[even] = {};
    for (int level = 0; 2 * level + 1 + even <= max_local; ++level) {
      const std::uint64_t threshold =
          exact::accept_threshold(exact::mul(beta, 2.0 * (2 * level + 1 + even)));
      if (threshold == 0) break;
      table.n_levels = level + 1;
      add(table, level, threshold);
    }
  }
}

}  // namespace

void tabulate_planes(double beta, std::int32_t max_local, PlaneTable* tables) {
  tabulate_levels(beta, max_local, tables,
                  [](PlaneTable& table, int level, std::uint64_t threshold) {
                    // A threshold of 2^32 accepts every rest.
                    const std::uint64_t high = std::min<std::uint64_t>(threshold >> rest_bits, 255);
                    table.low[level] = static_cast<std::uint32_t>(threshold - (high << rest_bits));
                    if (high > 0) table.n_high = level + 1;
                    for (int k = 0; k < 8; ++k) {
                      table.with_bit[k][level / 64] |= (high >> k & 1) << level % 64;
                    }
                  });
}

void tabulate_shared(double beta, std::int32_t max_local, SharedTable* tables) {
  tabulate_levels(beta, max_local, tables,
                  [](SharedTable& table, int level, std::uint64_t threshold) {
                    if (threshold > 0xFFFFFFFFu) table.n_all = level + 1;
                    table.threshold[level] = static_cast<std::uint32_t>(threshold);
                  });
}

namespace {

SliceShape shape_from(int width, std::int64_t n_words, int threads) {
  SliceShape shape{.width = width};
  while (shape.width < SliceJob::max_words && 2 * shape.width * threads <= n_words)
    shape.width *= 2;
  shape.n_tasks = (n_words + shape.width - 1) / shape.width;
  return shape;
}

}  // namespace

SliceShape slice_shape(std::int64_t n_words, int threads) {
  return shape_from(1, n_words, threads);
}

SliceShape plane_shape(std::int64_t n_words, int threads) {
  SliceShape shape{.width = 1};
  while (shape.width < SliceJob::max_words && shape.width * threads < n_words) shape.width *= 2;
  shape.n_tasks = (n_words + shape.width - 1) / shape.width;
  return shape;
}

namespace {

constexpr int row_shapes = 256;

// A number for the shape of a row, and whether its sum is even in the highest bit. Rows of couplings
// -1 and 1 have at most one run of each sign.
struct RowShape {
  std::uint8_t shape = 0;
  std::uint8_t n_planes = 0;
};
RowShape shape_of(const PairwiseView& model, std::int32_t site) {
  const SliceSite& row = model.slices.sites[site];
  const std::int32_t field = model.has_fields ? static_cast<std::int32_t>(model.field[site]) : 0;
  const std::int32_t sum = row.base - field + std::abs(field);
  const std::int64_t terms = model.slices.sites[site + 1].first_term - row.first_term;
  const auto first = row.n_runs > 0 ? slice_run(model.slices.runs[row.first_run]).n_terms : 0u;
  const std::int64_t shape = terms < 8 ? 8 * terms + std::min<std::int64_t>(first, 7)
                                       : 64 + std::min<std::int64_t>(terms - 8, 63);
  const int even = sum % 2 == 0 ? 1 : 0;
  const int planes = std::bit_width(static_cast<std::uint32_t>(sum + even));
  return {static_cast<std::uint8_t>(128 * even + shape), static_cast<std::uint8_t>(planes)};
}

// Sorts items by a key below `n_keys`; those of one key stay in order.
template <class Item, class Key>
void sort_by(std::int32_t n_keys, std::int32_t* counts, const Item* from, std::int32_t n, Item* to,
             Key key) {
  std::fill_n(counts, n_keys, 0);
  for (std::int32_t i = 0; i < n; ++i) ++counts[key(from[i])];
  std::int32_t before = 0;
  for (std::int32_t k = 0; k < n_keys; ++k) before += std::exchange(counts[k], before);
  for (std::int32_t i = 0; i < n; ++i) to[counts[key(from[i])]++] = from[i];
}

// A site that waits for its place.
struct Waiting {
  std::int32_t site = 0;
  std::int32_t class_number = 0;
  RowShape row;
};

std::size_t packs_at_most(std::int32_t n_sites, std::int32_t n_classes) {
  return static_cast<std::size_t>(n_sites) + 2 * static_cast<std::size_t>(n_classes);
}

// The parts of the memory of an order.
struct OrderMemory {
  PlanePack* packs = nullptr;
  PlanePlace* places = nullptr;
  Waiting* waiting[2] = {};
  std::int32_t* counts = nullptr;
  std::size_t bytes = 0;

  OrderMemory(std::int32_t n_sites, std::int32_t n_classes, std::byte* memory) {
    const auto n = static_cast<std::size_t>(n_sites);
    const auto take = [&]<class T>(T*& part, std::size_t size) {
      if (memory != nullptr) part = reinterpret_cast<T*>(memory + bytes);
      bytes += (size * sizeof(T) + 63) / 64 * 64;
    };
    take(packs, packs_at_most(n_sites, n_classes));
    take(places, n);
    take(waiting[0], n);
    take(waiting[1], n);
    take(counts, std::max<std::size_t>(row_shapes, static_cast<std::size_t>(n_classes)));
  }
};

// All sites with a variable, sorted by class and then by shape, in waiting[0]; returns their number.
std::int32_t sort_sites(const PairwiseView& model, const OrderMemory& memory) {
  std::int32_t n = 0;
  for (std::int32_t c = 0; c < model.n_classes; ++c) {
    for (std::int32_t s = 4 * model.class_begin[c]; s < 4 * model.class_begin[c + 1]; ++s) {
      if (model.variable[s] >= 0) memory.waiting[0][n++] = {s, c, shape_of(model, s)};
    }
  }
  sort_by(row_shapes, memory.counts, memory.waiting[0], n, memory.waiting[1],
          [](const Waiting& w) { return w.row.shape; });
  sort_by(model.n_classes, memory.counts, memory.waiting[1], n, memory.waiting[0],
          [](const Waiting& w) { return w.class_number; });
  return n;
}

}  // namespace

std::size_t order_bytes(std::int32_t n_sites, std::int32_t n_classes) {
  return OrderMemory(n_sites, n_classes, nullptr).bytes;
}

namespace {

PlanePlace place_of(const SliceView& slices, std::int32_t site, PlanePack& pack) {
  const SliceSite& row = slices.sites[site];
  PlanePlace place{site, (1 << (pack.n_planes - 1)) - (row.base + (pack.even ? 2 : 1)) / 2,
                   row.first_term};
  for (int r = 0; r < row.n_runs; ++r) {
    const SliceRun run = slice_run(slices.runs[row.first_run + r]);
    const auto n = static_cast<std::uint8_t>(run.n_terms);
    place.n_terms[run.plane] = static_cast<std::uint8_t>(place.n_terms[run.plane] + n);
    if (run.negative) {
      pack.negative = true;
    } else {
      place.n_positive[run.plane] = static_cast<std::uint8_t>(place.n_positive[run.plane] + n);
    }
    pack.n_powers = std::max(pack.n_powers, static_cast<std::uint8_t>(run.plane + 1));
  }
  return place;
}

// How the terms of the places of a pack are added.
void join_rows(const SliceView& slices, const PlanePlace* places, PlanePack& pack) {
  const auto n_terms = slices.sites[slices.sites.size - 1].first_term;
  std::int64_t last = 0, all = 0;  // rows begin before, and groups of terms are at most so many
  for (int k = 0; k < pack.n_powers; ++k) {
    std::uint8_t most = 0, fewest = 255;
    for (int g = 0; g < pack.n_sites; ++g) {
      most = std::max(most, places[g].n_terms[k]);
      fewest = std::min(fewest, places[g].n_terms[k]);
    }
    pack.most_terms[k] = most;
    pack.fewest_terms[k] = fewest;
    all += (most + 7) / 8 * 8;
  }
  for (int g = 0; g < pack.n_sites; ++g) last = std::max(last, places[g].first_term);
  pack.side_by_side = pack.n_sites > 1 && last + all <= n_terms;
}

}  // namespace

PlaneOrder order_for_planes(const PairwiseView& model, int sites_of_pack, std::byte* bytes) {
  const OrderMemory memory(model.n_sites, model.n_classes, bytes);
  const std::int32_t n = sort_sites(model, memory);
  const Waiting* const sites = memory.waiting[0];
  PlaneOrder order{memory.places, memory.packs};
  for (std::int32_t i = 0; i < n;) {
    PlanePack pack;
    pack.first = i;
    pack.even = sites[i].row.shape >= 128;
    const std::int32_t class_number = sites[i].class_number;
    const auto belongs = [&](const Waiting& w) {
      return w.class_number == class_number && (w.row.shape >= 128) == pack.even;
    };
    for (; i < n && pack.n_sites < sites_of_pack && belongs(sites[i]); ++i, ++pack.n_sites) {
      pack.n_planes = std::max(pack.n_planes, sites[i].row.n_planes);
    }
    pack.ends_class = i == n || sites[i].class_number != class_number;
    for (std::int32_t p = pack.first; p < i; ++p) {
      memory.places[p] = place_of(model.slices, sites[p].site, pack);
    }
    if (sites_of_pack > 1) join_rows(model.slices, memory.places + pack.first, pack);
    order.max_planes = std::max<int>(order.max_planes, pack.n_planes);
    memory.packs[order.n_packs++] = pack;
  }
  return order;
}

void describe_model(const PairwiseView& model, SliceJob& job) {
  job.n_sites = model.n_sites;
  job.variable = model.variable.data;
  job.row_begin = model.row_begin.data;
  job.entries = model.entries.data;
  job.base = model.base.data;
  job.narrow = model.arithmetic == Arithmetic::narrow;
  job.sites = model.slices.sites.data;
  job.runs = model.slices.runs.data;
  job.terms = model.slices.terms.data;
  job.field = model.field.data;
  job.max_local = model.slices.max_local;
}

void describe_words(View2<const std::uint32_t> state, const SliceShape& shape, std::int64_t task,
                    std::byte* scratch, SliceJob& job) {
  job.first_word = task * shape.width;
  job.width = shape.width;
  job.n_words =
      static_cast<int>(std::min<std::int64_t>(shape.width, state.columns - job.first_word));
  job.words = state.data + job.first_word;
  job.word_stride = state.stride;
  job.scratch = reinterpret_cast<std::uint32_t*>(scratch);
}

}  // namespace kiln::cpu
