// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/run/init_slots.hpp"
#include "kiln/kernels/run/slot_array.hpp"
#include "kiln/kernels/run/state_block.hpp"
#include "kiln/queue.hpp"
#include "kiln/space.hpp"

namespace kiln {

class Archive;
class ReplicaBatch;

/// The number of replicas of a batch and their division into groups.
struct BatchShape {
  std::int64_t replicas = 32;  ///< in all groups together
  std::int64_t groups = 1;     ///< equal, contiguous; must divide the replicas
  std::uint64_t seed = 1;
};

/// A light view of one replica for users. Each accessor copies from the device and waits for it.
class KILN_API Replica {
 public:
  Replica(const ReplicaBatch& batch, std::int64_t index) : batch_(&batch), index_(index) {}

  std::int64_t index() const noexcept { return index_; }
  std::int64_t group() const noexcept;
  double energy() const;       ///< stored units
  double best_energy() const;  ///< stored units
  State state() const;
  State best_state() const;

 private:
  const ReplicaBatch* batch_;
  std::int64_t index_;
};

/// All replicas of a run: structure of arrays in device memory, the one state that schedules share.
///
/// Replicas lie in *slots*, padded to a multiple of 32; padding never counts. Each block of the
/// space has one array in one layout. Energies are in stored units (integers for integral
/// problems).
class KILN_API ReplicaBatch {
 public:
  /// Allocates; no state is drawn yet (energies +inf).
  /// @param queue must outlive the batch.
  /// @param space of one replica.
  /// @param layouts one per block of the space.
  /// @param shape numbers of replicas and groups, and the seed.
  /// @throws InvalidArgument for a shape or layout that does not fit; OutOfDeviceMemory.
  ReplicaBatch(Queue& queue, const Space& space, const std::vector<Layout>& layouts,
               const BatchShape& shape);

  /// Bytes of device memory that such a batch needs.
  /// @throws InvalidArgument for a shape or layout that does not fit.
  static std::uint64_t bytes_needed(const Space& space, const std::vector<Layout>& layouts,
                                    const BatchShape& shape);
  /// The part of it that save() keeps.
  static std::uint64_t bytes_saved(const Space& space, const std::vector<Layout>& layouts,
                                   const BatchShape& shape);

  const Space& space() const noexcept { return space_; }
  std::int64_t replicas() const noexcept { return shape_.replicas; }
  std::int64_t groups() const noexcept { return shape_.groups; }
  std::int64_t group_size() const noexcept { return shape_.replicas / shape_.groups; }
  std::int64_t slots() const noexcept { return slots_; }
  std::uint64_t seed() const noexcept { return shape_.seed; }

  int n_blocks() const noexcept { return static_cast<int>(blocks_.size()); }
  StateBlock state(int block) const noexcept {
    return blocks_[static_cast<std::size_t>(block)].now;
  }
  StateBlock best_state(int block) const noexcept {
    return blocks_[static_cast<std::size_t>(block)].best;
  }

  View1<double> energy() noexcept { return energy_.view(); }
  View1<double> best_energy() noexcept { return best_energy_.view(); }
  View1<std::uint64_t> best_step() noexcept { return best_step_.view(); }
  View1<std::uint64_t> accepted() noexcept { return accepted_.view(); }
  View1<std::uint64_t> not_finite() noexcept { return not_finite_.view(); }
  View1<std::uint32_t> improved() noexcept { return improved_.view(); }
  /// The temperature index of each slot: the group in annealing, the rung in tempering.
  View1<std::int32_t> rung_of() noexcept { return rung_of_.view(); }
  /// The replica whose history a slot holds; a permutation within each group.
  View1<std::int32_t> replica_of() noexcept { return replica_of_.view(); }
  /// All arrays of the batch that belong to a replica rather than to its slot: states, energies,
  /// counts, best states, draw identifiers, lineage. Moving all of these together moves replicas
  /// (StateSwap); rung_of and the key of the group stay.
  std::vector<SlotArray> replica_arrays();
  DrawIds draw_ids() const noexcept { return {key_.view(), name_.view()}; }

  Replica operator[](std::int64_t index) const { return {*this, index}; }

  /// Canonical states of the given slots, copied to the host; waits for the queue.
  std::vector<State> read_states(const std::vector<std::int64_t>& slots, bool best) const;
  /// Replaces the state of every replica; `states` repeats as often as needed.
  /// @throws InvalidArgument if a state does not belong to the space.
  void write_states(const std::vector<State>& states);
  /// Replaces the current state of one slot; copies the blocks to the host and back. Energies stay.
  /// @throws InvalidArgument for a slot that does not exist, and if the state does not belong to
  /// the space.
  void write_state(std::int64_t slot, const State& state);
  std::vector<double> read_energies(bool best) const;
  std::vector<std::int32_t> read_replica_of() const { return replica_of_.download(); }
  std::vector<std::uint64_t> read_best_steps() const { return best_step_.download(); }
  std::vector<std::uint64_t> read_accepted() const { return accepted_.download(); }
  std::vector<std::uint64_t> read_not_finite() const { return not_finite_.download(); }

  /// Divides the replicas anew, for a schedule that goes on with them. States, energies and best
  /// states stay in their slots; draw identifiers, rungs and lineages become those of a new batch
  /// of this seed, and counts of moves and steps begin at 0. Copies nothing to the host.
  /// @param groups  their new number
  /// @param seed  of the draws from now on
  /// @param origin  [slots] of which replica each replica comes; is brought up to date
  /// @throws InvalidArgument for groups that do not divide the replicas.
  void divide(std::int64_t groups, std::uint64_t seed, DeviceArray<std::int32_t>& origin);

  /// Changes the layout of a block in place, with the convert_layout kernel.
  void convert(int block, Layout layout);

  void save(Archive& archive) const;
  void load(const Archive& archive);

 private:
  struct BlockStore {
    DeviceArray<std::byte> now_memory, best_memory;
    DeviceArray<double> box;  // bounds of reals whose intervals differ
    StateBlock now, best;
  };
  BlockStore make_block(const Block& block, Layout layout) const;

  Queue& queue_;
  Space space_;
  BatchShape shape_;
  std::int64_t slots_ = 0;
  std::vector<BlockStore> blocks_;
  DeviceArray<double> energy_, best_energy_;
  DeviceArray<std::uint64_t> best_step_, accepted_, not_finite_, key_;
  DeviceArray<std::uint32_t> improved_, name_;
  DeviceArray<std::int32_t> rung_of_, replica_of_;
};

/// Canonical states of the given slots of blocks in a queue's memory, copied to the host; waits.
/// @throws InvalidArgument for a slot that does not exist.
KILN_API std::vector<State> read_states_of(Queue& queue, const std::vector<StateBlock>& blocks,
                                           const std::vector<std::int64_t>& slots);

/// Bytes of one block in a layout for a number of slots.
KILN_API std::uint64_t block_bytes(const Block& block, Layout layout, std::int64_t slots);

}  // namespace kiln
