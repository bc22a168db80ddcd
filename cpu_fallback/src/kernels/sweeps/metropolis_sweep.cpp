// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "kiln/alarm.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/device/shared_draws.hpp"
#include "kiln/kernels/sweeps/sweep_scratch.hpp"

#include "kernels/isa.hpp"
#include "kernels/sweeps/plane_parts.hpp"
#include "launch.hpp"
#include "slice_tile.hpp"
#include "sweep_tile.hpp"

namespace kiln::cpu {
namespace {

TileNumber number_for(const PairwiseView& model) {
  switch (model.arithmetic) {
    case Arithmetic::narrow:
      return model.max_coupling_sum <= 127 ? TileNumber::int8 : TileNumber::int16;
    case Arithmetic::medium:
      return TileNumber::single;
    case Arithmetic::wide:
      break;
  }
  return TileNumber::real;
}

// Calls visit(lane, slot) for the slots of `n` words from `word` on.
template <class Visit>
void for_each_slot(std::int64_t word, int n, Visit visit) {
  for (int l = 0; l < 32 * n; ++l) visit(static_cast<std::size_t>(l), word * 32 + l);
}

template <class Job>
void describe_draws(const MetropolisSweep& kernel, std::int64_t word, int n_words, Job& job) {
  job.heat_bath = kernel.rule == SweepRule::heat_bath;
  job.exact_accept = job.heat_bath ? &exact::accept_heat_bath : &exact::accept;
  const std::uint64_t step = kernel.control->step + kernel.step_offset;
  job.step_low = static_cast<std::uint32_t>(step);
  job.counter3 = counter_word3(RngDomain::metropolis, 0, step);
  job.step = step;
  if (kernel.naming == DrawNaming::planes) job.draw_site = &draw_site_by_planes;
  if (kernel.naming == DrawNaming::shared) job.draw_site = &draw_site_shared;
  for_each_slot(word, n_words, [&](std::size_t l, std::int64_t slot) {
    const double beta = exact::mul(kernel.beta[kernel.rung_of[slot]], kernel.inverse_scale);
    job.beta[l] = beta == beta ? beta : exact::infinity();
    job.key[l] = kernel.draw_ids.key[slot];
    job.replica[l] = kernel.draw_ids.replica[slot];
    job.moves[l / 32] |= kernel.rests(slot) ? 0u : 1u << (l % 32);
  });
}

// Words whose replicas have one beta can use a table: an anneal of one group has one for all.
void describe_thresholds(SliceJob& job) {
  for (int w = 0; w < job.n_words; ++w) {
    const double* const beta = job.beta + 32 * w;
    if (!std::all_of(beta, beta + 32, [&](double other) { return other == beta[0]; })) continue;
    if (w > 0 && job.thresholds[w - 1].size > 0 && beta[-1] == beta[0]) {
      job.thresholds[w] = job.thresholds[w - 1];
    } else {
      tabulate_thresholds(beta[0], job.max_local, job.n_sites / 8, job.thresholds[w]);
    }
  }
}

void add_to_slots(const MetropolisSweep& kernel, const SliceJob& job) {
  for_each_slot(job.first_word, job.n_words, [&](std::size_t l, std::int64_t slot) {
    kernel.energy[slot] += job.delta[l];
    if (kernel.accepted) kernel.accepted[slot] += job.accepted[l];
  });
}

void sweep_slices(const MetropolisSweep& kernel, const SliceShape& shape, std::int64_t task,
                  std::byte* scratch) {
  SliceJob job;
  describe_model(kernel.model, job);
  const View2<std::uint32_t>& state = kernel.state;
  describe_words({state.data, state.rows, state.columns, state.stride}, shape, task, scratch, job);
  job.new_words = state.data + job.first_word;
  describe_draws(kernel, job.first_word, job.n_words, job);
  const SliceFunctions& functions = slice_functions();
  if (functions.uses_thresholds && !job.heat_bath) describe_thresholds(job);
  functions.sweep(job);
  add_to_slots(kernel, job);
}

void sweep_with_shared_noise(SliceJob& job) {
  SharedTable tables[2];
  tabulate_shared(job.beta[0], job.max_local, tables);
  job.shared_tables = tables;
  job.counter3 = counter_word3(RngDomain::metropolis_planes, shared_block, job.step);
  slice_functions().sweep_shared(job);
}

// What the jobs of a task have in common: the order of the sites, as they mostly have one width,
// and the place of their tables, which takes longer to make than a small sweep.
class TaskOrder {
 public:
  TaskOrder(const PairwiseView& model, std::byte* memory) : model_(model), memory_(memory) {}

  PlaneTable tables[SliceJob::max_words][2];

  const PlaneOrder& of_width(int width) {
    const int wanted = slice_functions().vector_words / width;
    if (wanted > 1 && sites_of_pack_ != wanted) order_ = order_for_planes(model_, wanted, memory_);
    sites_of_pack_ = wanted;
    return order_;
  }

 private:
  const PairwiseView& model_;
  std::byte* memory_;
  int sites_of_pack_ = 0;
  PlaneOrder order_;
};

void sweep_by_planes(TaskOrder& order, SliceJob& job) {
  job.order = order.of_width(job.width);
  auto& tables = order.tables;
  const auto beta_of = [&](int word) { return job.beta[32 * word]; };
  int n_tables = 1;  // one is for all words that are alike
  job.mixed_keys = false;
  for (int w = 1; w < job.n_words; ++w) {
    if (!are_alike(job, w, 0)) n_tables = job.n_words;
    job.mixed_keys = job.mixed_keys || job.key[32 * w] != job.key[0];
  }
  for (int w = 0; w < n_tables; ++w) {
    if (w > 0 && beta_of(w) == beta_of(w - 1)) {
      std::copy_n(tables[w - 1], 2, tables[w]);
    } else {
      tabulate_planes(beta_of(w), job.max_local, tables[w]);
    }
  }
  job.plane_tables = tables[0];
  job.mixed_tables = n_tables > 1;
  job.counter3 = counter_word3(RngDomain::metropolis_planes, 0, job.step);
  job.rest_counter3 = counter_word3(RngDomain::metropolis_rest, 0, job.step);
  slice_functions().sweep_by_planes(job);
}

// Words that can be swept together.
void sweep_together(const MetropolisSweep& kernel, TaskOrder& order, SliceJob& job) {
  if (kernel.naming == DrawNaming::shared) return sweep_with_shared_noise(job);
  sweep_by_planes(order, job);
}

// The words from `first` on that can be swept together, or that one; returns their number.
int sweep_part(const MetropolisSweep& kernel, TaskOrder& order, const SliceJob& job, int first,
               SliceJob& part) {
  const int n = words_together(job, first, kernel.naming == DrawNaming::shared);
  take_part(job, first, std::max(1, n), part);
  if (n > 0) {
    sweep_together(kernel, order, part);
  } else {
    slice_functions().sweep(part);
  }
  add_to_slots(kernel, part);
  return part.n_words;
}

// Whether the words of a job can be swept together in every sweep: where each has one rung, or with
// shared noise all have the same, they have one temperature in every sweep.
bool stay_together(const MetropolisSweep& kernel, const SliceJob& job) {
  const bool shared = kernel.naming == DrawNaming::shared;
  const std::int32_t* const rung = kernel.rung_of.data + 32 * job.first_word;
  for (int l = 0; l < 32 * job.n_words; ++l) {
    if (rung[l] != rung[shared ? 0 : l / 32 * 32]) return false;
  }
  return words_together(job, 0, shared) == job.n_words;
}

// Bytes of the states of a task, and with those of the order of its sites.
std::size_t state_bytes(const PairwiseView& model, const SliceShape& shape) {
  return (slice_bytes(model.n_sites, shape.width) + 63) / 64 * 64;
}
std::size_t plane_bytes(const PairwiseView& model, const SliceShape& shape) {
  return state_bytes(model, shape) + order_bytes(model.n_sites, model.n_classes);
}

// Words do not depend on each other, so a task makes all sweeps of its words.
void sweep_planes(const MetropolisSweep& kernel, std::uint32_t sweeps, const SliceShape& shape,
                  std::int64_t task, std::byte* scratch, const Alarm* alarm) {
  SliceJob job;
  describe_model(kernel.model, job);
  const View2<std::uint32_t>& state = kernel.state;
  describe_words({state.data, state.rows, state.columns, state.stride}, shape, task, scratch, job);
  job.new_words = state.data + job.first_word;
  job.width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(job.n_words)));
  TaskOrder order(kernel.model, scratch + state_bytes(kernel.model, shape));
  bool together = false;  // in all sweeps or in none: between those of a row states stay in `job`
  for (std::uint32_t s = 0; s < sweeps; ++s) {
    if (s > 0 && alarm != nullptr) end_if_due(*alarm);
    const MetropolisSweep one = kernel.only(s);
    std::fill(std::begin(job.moves), std::end(job.moves), 0u);
    describe_draws(one, job.first_word, job.n_words, job);
    if (s == 0) together = stay_together(kernel, job);
    if (!together) {
      SliceJob part = job;
      for (int first = 0; first < job.n_words;) first += sweep_part(one, order, job, first, part);
      continue;
    }
    job.gathers = s == 0;
    job.scatters = s + 1 == sweeps;
    std::fill(std::begin(job.delta), std::end(job.delta), 0.0);
    std::fill(std::begin(job.accepted), std::end(job.accepted), 0u);
    sweep_together(one, order, job);
    add_to_slots(one, job);
  }
}

void launch_planes(const MetropolisSweep& kernel, Queue& queue) {
  std::uint32_t sweeps = 0;
  while (sweeps < kernel.sweeps && kernel.control->active(kernel.number_of(sweeps))) ++sweeps;
  if (sweeps == 0) return;
  const QueueThreads threads = pool_of(queue);
  const SliceShape shape = plane_shape(kernel.state.columns, threads.pool.threads());
  for_each_with_scratch(queue, shape.n_tasks, plane_bytes(kernel.model, shape),
                        [&](std::int64_t task, std::byte* scratch) {
                          sweep_planes(kernel, sweeps, shape, task, scratch, threads.alarm);
                        });
}

TileJob tile_job(const MetropolisSweep& kernel, std::int64_t word, std::byte* masks) {
  const PairwiseView& model = kernel.model;
  TileJob job;
  job.number = number_for(model);
  job.n_sites = model.n_sites;
  job.variable = model.variable.data;
  job.row_begin = model.row_begin.data;
  job.entries = model.entries.data;
  job.weights_f64 = model.weights_f64.data;
  job.base = model.base.data;
  job.words = kernel.state.data + word;
  job.word_stride = kernel.state.stride;
  job.masks = masks;
  describe_draws(kernel, word, 1, job);
  return job;
}

// Words of a task with masks: several for real weights, as long as each thread has a task.
int tile_words(const PairwiseView& model, std::int64_t words, std::int64_t threads) {
  const bool real = number_for(model) == TileNumber::real;
  return real && words >= threads * max_tile_words ? max_tile_words : 1;
}

void sweep_words(const MetropolisSweep& kernel, TileFunction tile, std::int64_t first, int n,
                 std::byte* masks) {
  const PairwiseView& model = kernel.model;
  TileJob jobs[max_tile_words];
  const std::size_t bytes = mask_bytes(number_for(model), model.n_sites);
  for (int w = 0; w < n; ++w) {
    jobs[w] = tile_job(kernel, first + w, masks + static_cast<std::size_t>(w) * bytes);
  }
  tile(jobs, n);
  for (int w = 0; w < n; ++w) {
    for_each_slot(first + w, 1, [&](std::size_t l, std::int64_t slot) {
      if (model.integral) kernel.energy[slot] += jobs[w].delta[l];
      if (kernel.accepted) kernel.accepted[slot] += jobs[w].accepted[l];
    });
  }
}

bool fits_planes(const PairwiseView& model) {
  return model.arithmetic == Arithmetic::narrow && model.slices.max_local <= max_sum_of_planes;
}

// Whether counters of eight bits can decide all attempts by planes or with shared noise. By planes
// sites of a class are decided side by side, so they must not interact.
bool has_planes(const MetropolisSweep& kernel) {
  const PairwiseView& model = kernel.model;
  if (kernel.naming == DrawNaming::planes && model.sequential) return false;
  return kernel.naming != DrawNaming::words && kernel.rule == SweepRule::metropolis &&
         fits_planes(model);
}

// Whether masked sums of each replica cost less than counting in slices `width` words wide, in
// instructions for one word and an average site. Only the time depends on it.
bool masks_are_cheaper(const PairwiseView& model, int width) {
  if (model.arithmetic == Arithmetic::wide) return true;
  const SliceCosts& costs = slice_functions().costs;
  const double sites = std::max(1, model.n_sites);
  const double entries = static_cast<double>(model.entries.size) / sites;
  const double terms = static_cast<double>(model.slices.terms.size) / sites;
  const double runs = static_cast<double>(model.slices.runs.size) / sites;
  const double planes = std::bit_width(static_cast<std::uint32_t>(model.max_coupling_sum));
  const bool wide = model.arithmetic == Arithmetic::medium || entries > kMaxNarrowEntries;
  const double sliced = std::min(counting_cost(costs, terms, runs, planes, width),
                                 one_by_one_cost(costs, entries, wide, width)) /
                        width;
  const int of_number[] = {costs.mask_int8, costs.mask_int16, costs.mask_single};
  const double masked = entries * of_number[static_cast<int>(number_for(model))] + costs.mask_more;
  return masked < sliced;
}

// AVX-512 selects lanes of doubles by bits. Masks of doubles that fit into the nearest cache of a
// core cost less: dense models of 60 variables take a fifth less time.
TileFunction tile_for(const PairwiseView& model) {
  const TileFunction tile = KILN_VARIANT_FOR_ISA(sweep_tile);
#if defined(KILN_X86_64) && KILN_X86_64
  constexpr std::size_t nearest_cache = 32 * 1024;
  const bool fits = mask_bytes(number_for(model), model.n_sites) <= nearest_cache;
  const bool wide = model.arithmetic == Arithmetic::wide;
  if (wide && fits && tile == sweep_tile_avx512) return sweep_tile_avx2;
#endif
  return tile;
}

}  // namespace

template <>
void launch(const MetropolisSweep& kernel, Queue& queue) {
  if (has_planes(kernel)) return launch_planes(kernel, queue);
  if (kernel.sweeps > 1) {
    for (std::uint32_t s = 0; s < kernel.sweeps; ++s) launch(kernel.only(s), queue);
    return;
  }
  if (!kernel.control->active(kernel.step_offset)) return;
  const PairwiseView& model = kernel.model;
  const SliceShape shape = slice_shape(kernel.state.columns, pool_of(queue).pool.threads());
  if (masks_are_cheaper(model, shape.width)) {
    const TileFunction tile = tile_for(model);
    const std::int64_t words = kernel.state.columns;
    const int each = tile_words(model, words, pool_of(queue).pool.threads());
    return for_each_with_scratch(
        queue, (words + each - 1) / each,
        mask_bytes(number_for(model), model.n_sites) * static_cast<std::size_t>(each),
        [&](std::int64_t task, std::byte* masks) {
          const std::int64_t first = task * each;
          const auto n = static_cast<int>(std::min<std::int64_t>(each, words - first));
          sweep_words(kernel, tile, first, n, masks);
        });
  }
  for_each_with_scratch(
      queue, shape.n_tasks, slice_bytes(model.n_sites, shape.width),
      [&](std::int64_t task, std::byte* scratch) { sweep_slices(kernel, shape, task, scratch); });
}

}  // namespace kiln::cpu

namespace kiln {

std::uint64_t metropolis_sweep_scratch(const PairwiseView& model, std::int64_t words,
                                       std::int64_t threads, DrawNaming naming) {
  const cpu::SliceShape shape = cpu::slice_shape(words, static_cast<int>(threads));
  const auto bytes = [&](std::size_t each, std::int64_t tasks) {
    return each * static_cast<std::uint64_t>(std::min(threads, tasks));
  };
  std::uint64_t sliced = 0;
  if (model.arithmetic != Arithmetic::wide)
    sliced = bytes(cpu::slice_bytes(model.n_sites, shape.width), shape.n_tasks);
  const cpu::SliceShape planes = cpu::plane_shape(words, static_cast<int>(threads));
  if (naming != DrawNaming::words && cpu::fits_planes(model))  // whatever masks cost
    sliced = std::max(sliced, bytes(cpu::plane_bytes(model, planes), planes.n_tasks));
  if (!cpu::masks_are_cheaper(model, shape.width)) return sliced;
  const std::int64_t together = cpu::tile_words(model, words, threads);
  const std::size_t each =
      cpu::mask_bytes(cpu::number_for(model), model.n_sites) * static_cast<std::size_t>(together);
  return std::max(sliced, bytes(each, (words + together - 1) / together));
}

}  // namespace kiln
