// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "plane_tables.cuh"

/// The shared memory of a block that sweeps by planes.
namespace kiln::cuda {
namespace {

/// The ties of a lane's words, with all that deciding them needs.
template <int V, int P>
struct alignas(16) TiedWords {
  // Site, even and word; where the states are; for each word replicas and the planes of its level.
  static constexpr int n = 2 + V * P;
  static constexpr int quads = (n + 3) / 4;
  uint4 of[quads];
};

/// Room for the ties of the lanes of a warp at one site each.
constexpr int queued_ties = 32;

/// Where the states and the rows of a launch are. On chip sites are those of StagedView. Short rows
/// are those of ShortRows; rows of exactly four couplings -1 or 1 are read as the model has them.
enum class PlaneRows { on_chip, off_chip, short_on_chip, four_on_chip };

/// What a block describes, tables, states where they are on chip, short rows, and a queue for each
/// warp.
template <int W, int V, int P, PlaneRows kRows>
struct PlaneMemory {
  static constexpr bool shared = kRows != PlaneRows::off_chip;
  static constexpr bool short_rows = kRows == PlaneRows::short_on_chip;
  static constexpr bool four_rows = kRows == PlaneRows::four_on_chip;
  static constexpr bool staged = kRows == PlaneRows::on_chip;
  static constexpr bool by_site = short_rows || four_rows;  // states, else by variable
  static constexpr std::uint32_t block_bytes = (sizeof(PlaneBlock<W>) + 15) / 16 * 16;
  static constexpr std::uint32_t queue_bytes = queued_ties * sizeof(TiedWords<V, P>);

  PlaneBlock<W>& block;
  unsigned char* const tables;
  std::uint32_t* const states;  // of variables, 0 after the last one; or of sites
  uint4* const rows;            // short ones, of sites
  unsigned char* const queue;   // of the warp

  __device__ static unsigned char* begin() {
    extern __shared__ __align__(128) unsigned char shared_bytes[];
    return shared_bytes;
  }
  __device__ PlaneMemory(std::uint32_t capacity, const PairwiseView& model)
      : block(*reinterpret_cast<PlaneBlock<W>*>(begin())),
        tables(begin() + block_bytes),
        states(reinterpret_cast<std::uint32_t*>(begin() + before_states(capacity))),
        rows(reinterpret_cast<uint4*>(begin() + before_states(capacity) +
                                      rows_of_states(model) * W * 4)),
        queue(begin() + before_states(capacity) + bytes_of_model(model) +
              threadIdx.x / 32 * queue_bytes) {}

  __device__ std::uint32_t* first_queue() const {
    return reinterpret_cast<std::uint32_t*>(queue - threadIdx.x / 32 * queue_bytes);
  }
  /// A multiple of 128, so that an address of states has zeros where that of a word is added.
  __host__ __device__ static std::uint32_t before_states(std::uint32_t capacity) {
    return (block_bytes + capacity * PlaneFormat<P>::table_bytes + 127) / 128 * 128;
  }
  __host__ __device__ static std::uint32_t bytes_of_model(const PairwiseView& model) {
    return (rows_of_states(model) * W * 4 + 15) / 16 * 16 +
           (short_rows ? static_cast<std::uint32_t>(model.n_sites) * 16 : 0u);
  }

 private:
  __host__ __device__ static std::uint32_t rows_of_states(const PairwiseView& model) {
    if (!shared) return 0;
    return static_cast<std::uint32_t>(by_site ? model.n_sites : model.n_variables + 1);
  }
};

}  // namespace
}  // namespace kiln::cuda
