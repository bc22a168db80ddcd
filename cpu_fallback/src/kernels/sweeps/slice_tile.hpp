// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

#include "kernels/sweeps/plane_order.hpp"
#include "kernels/sweeps/plane_words.hpp"

namespace kiln::cpu {

/// Thresholds of the acceptance of one inverse temperature, by dE / 2: words below accept.
struct alignas(64) ThresholdTable {
  static constexpr int max_size = 64;

  std::uint32_t threshold[max_size] = {};
  int size = 0;  // 32 or 64; larger steps have the last threshold. 0: there is no table
};

/// What decides the attempts of one inverse temperature by planes. A step up of dE / 2 = 2 level +
/// 1
/// + even is accepted if the eight high bits of its word are below `high`, or equal and the others
/// below `low`.
struct PlaneTable {
  static constexpr int max_levels = 128;

  int n_levels = 0;                    // that can be accepted
  int n_high = 0;                      // whose `high` is not 0: the first ones
  std::uint64_t with_bit[8][2] = {};   // levels with bit k of `high`, a bit each
  std::uint32_t low[max_levels] = {};  // at most 2^24
};

/// The same where a word has one random number for its 32 replicas: it accepts the first levels.
struct alignas(64) SharedTable {
  static constexpr int max_levels = 128, step = 4;

  int n_all = 0;     // levels that every number accepts: the first ones
  int n_levels = 0;  // that can be accepted
  // Numbers below accept; of the levels between, and then 0.
  std::uint32_t threshold[max_levels + step] = {};
};

/// Up to 16 words of 32 replicas of an integral model, as plain pointers: the vectorised
/// translation units must not instantiate inline functions that others share, or the linker might
/// keep the copy that needs the wider instructions.
struct SliceJob {
  static constexpr int max_words = 16;
  static constexpr int max_lanes = 32 * max_words;

  std::int32_t n_sites = 0;
  std::int32_t n_classes = 0;
  const std::int32_t* class_begin = nullptr;  // [n_classes + 1], in quads of sites
  const std::int32_t* variable = nullptr;     // [n_sites], -1: filler
  const std::int64_t* row_begin = nullptr;    // [n_sites + 1]
  const PairEntry* entries = nullptr;
  const double* base = nullptr;      // [n_sites]
  bool narrow = false;               // sums of couplings fit into 16 bits
  const SliceSite* sites = nullptr;  // [n_sites + 1]
  const std::uint32_t* runs = nullptr;
  const std::uint32_t* terms = nullptr;
  const double* field = nullptr;  // [n_sites]
  std::int32_t max_local = 0;     // bound of |h_i + local field|

  int n_words = 0;                       // words to update
  int width = 0;                         // words of a vector: 1, 2, 4, 8 or 16, at least n_words
  std::int64_t first_word = 0;           // in the batch
  const std::uint32_t* words = nullptr;  // of variable 0, next variable at + stride
  std::uint32_t* new_words = nullptr;    // the same for the states after a sweep
  std::int64_t word_stride = 0;
  std::uint32_t* scratch = nullptr;  // slice_bytes(), 64-byte aligned
  // By planes and with shared noise: whether the states are taken from the batch, or are those of
  // the sweep before, and whether they go back to it.
  bool gathers = true, scatters = true;

  bool heat_bath = false;  // else Metropolis
  double beta[max_lanes] = {};
  std::uint32_t moves[max_words] = {};  // bits of the replicas that are not left alone
  std::uint64_t key[max_lanes] = {};
  std::uint32_t replica[max_lanes] = {};
  std::uint32_t step_low = 0;
  std::uint32_t counter3 = 0;  // domain, block and high part of the step
  std::uint64_t step = 0;
  DrawSite draw_site = nullptr;                // draws by planes or shared; null: by words
  std::uint32_t rest_counter3 = 0;             // of the low bits by planes
  PlaneOrder order;                            // by planes
  const PlaneTable* plane_tables = nullptr;    // of odd and of even sites; for all lanes, or
  bool mixed_tables = false;                   // [n_words][2]
  bool mixed_keys = false;                     // by planes: of the words; only with mixed tables
  const SharedTable* shared_tables = nullptr;  // for shared noise, of all lanes

  double delta[max_lanes] = {};  // out: energy change of a sweep, or twice the energy
  std::uint64_t accepted[max_lanes] = {};

  ThresholdTable thresholds[max_words];  // Metropolis only; used where the lanes have one beta

  // The rule in double: decides the rare cases that single precision cannot.
  bool (*exact_accept)(double beta, double delta, std::uint32_t word) = nullptr;
};

/// Bytes of scratch memory for the states of the words of a job.
inline std::size_t slice_bytes(std::int32_t n_sites, int width) {
  return static_cast<std::size_t>(n_sites) * static_cast<std::size_t>(width) * 4;
}

/// Instructions for one word of 32 replicas, counted in the code: a neighbour that is added replica
/// by replica (the same in 32 bits), a plane of a counter, a neighbour that is added by masks of
/// each type, and what a site costs more with masks.
struct SliceCosts {
  int neighbor, wide_neighbor, plane, mask_int8, mask_int16, mask_single, mask_more;
};

// In an unnamed namespace: see SliceJob.
namespace {
// Rows of more entries are added up in 32 bits.
constexpr int kMaxNarrowEntries = 64;

// Instructions for one row and `words` words: neighbours added replica by replica, or counted.
template <class N>
constexpr N one_by_one_cost(const SliceCosts& costs, N entries, bool wide, int words) {
  return entries * static_cast<N>(3 + (wide ? costs.wide_neighbor : costs.neighbor) * words);
}
template <class N>
constexpr N counting_cost(const SliceCosts& costs, N terms, N runs, N planes, int words) {
  return 3 * terms + runs * (10 + 4 * planes) + static_cast<N>(costs.plane * words) * planes;
}
}  // namespace

/// A sweep, or the energies of all states. All variants give the same bits; chosen_isa() selects
/// the fastest one.
struct SliceFunctions {
  void (*sweep)(SliceJob& job);
  /// By planes, for words that have one key each, one temperature and replicas 32 k .. 32 k + 31.
  void (*sweep_by_planes)(SliceJob& job);
  /// With shared noise, for such words that all have the same key and temperature.
  void (*sweep_shared)(SliceJob& job);
  void (*energies)(SliceJob& job);
  bool uses_thresholds;
  SliceCosts costs;
  int vector_words;  // words that a register holds
};
extern const SliceFunctions slice_baseline, slice_avx2, slice_avx512;
const SliceFunctions& slice_functions();

/// Makes the table of a word whose replicas have one beta, if a table of 64 steps holds all steps
/// that can be accepted.
/// @param max_local  bound of dE / 2
/// @param max_steps  the most steps to compute: each costs about as much as 16 attempts
KILN_TEST_API void tabulate_thresholds(double beta, std::int32_t max_local, int max_steps,
                                       ThresholdTable& table);

/// @param max_local  bound of dE / 2, at most max_sum_of_planes
/// @param tables     [2], of odd and of even sites
void tabulate_planes(double beta, std::int32_t max_local, PlaneTable* tables);
void tabulate_shared(double beta, std::int32_t max_local, SharedTable* tables);

/// How the words of a batch are shared out: tasks of `width` words, the last one may have fewer.
struct SliceShape {
  int width = 1;
  std::int64_t n_tasks = 0;
};
/// Tasks as wide as possible that still leave one for each thread. The shape changes no bit.
SliceShape slice_shape(std::int64_t n_words, int threads);
/// Tasks as narrow as one for each thread allows: by planes and with shared noise a narrow task
/// takes less time than a wide one.
SliceShape plane_shape(std::int64_t n_words, int threads);

/// Fills in the model. @pre its arithmetic is narrow or medium.
void describe_model(const PairwiseView& model, SliceJob& job);
/// Fills in the words of task `task`, and the memory for their states.
void describe_words(View2<const std::uint32_t> state, const SliceShape& shape, std::int64_t task,
                    std::byte* scratch, SliceJob& job);

}  // namespace kiln::cpu
