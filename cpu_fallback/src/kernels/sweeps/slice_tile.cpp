// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/sweeps/slice_tile.hpp"

#include <algorithm>

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

void describe_model(const PairwiseView& model, SliceJob& job) {
  job.n_sites = model.n_sites;
  job.n_classes = model.n_classes;
  job.class_begin = model.class_begin.data;
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
