// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/run/state_block.hpp"
#include "kiln/objective.hpp"
#include "kiln/problem.hpp"
#include "kiln/queue.hpp"
#include "kiln/replica_batch.hpp"

#include "bench/kernel_case.hpp"

namespace kiln::cli {

/// The pairwise instances that sweep and energy are timed on.
const std::vector<std::string>& pairwise_instances();
/// Those of the categorical kernels.
const std::vector<std::string>& potts_instances();

/// A family of models: couplings +-1 on a torus of 2000 spins, and a field on half of the spins.
Problem bench_family();

/// Random states of an instance with their energies, as many replicas as a run would take here, and
/// one inverse temperature between the hot and the cold end of an anneal.
class ObjectiveBatch {
 public:
  ObjectiveBatch(BenchContext& context, const std::string& instance);
  ObjectiveBatch(BenchContext& context, const Problem& problem);

  ReplicaBatch& batch() { return batch_; }
  BoundObjective& objective() { return *objective_; }
  RunControl* control() { return control_.data(); }
  View1<const double> beta() const { return beta_.view(); }
  double inverse_scale() const { return inverse_scale_; }
  double slots() const { return static_cast<double>(batch_.slots()); }
  double variables() const { return static_cast<double>(batch_.space().variables()); }
  /// Of the states, as they are stored.
  double state_bytes() const {
    const StateBlock block = batch_.state(0);
    return static_cast<double>(
        block_bytes(batch_.space().blocks().front(), block.layout, block.slots));
  }
  double attempts() const { return variables() * static_cast<double>(batch_.replicas()); }

 private:
  ReplicaBatch batch_;
  std::unique_ptr<BoundObjective> objective_;
  DeviceArray<RunControl> control_;
  DeviceArray<double> beta_;
  double inverse_scale_;
};

/// A block of states in a layout of its own, all slots of one group at one temperature.
class BlockBatch {
 public:
  BlockBatch(Queue& queue, const Block& block, Layout layout, std::int64_t slots);

  StateBlock block() { return block_; }
  DrawIds draw_ids() const { return {key_.view(), replica_.view()}; }
  View1<const std::int32_t> rung_of() const { return rung_.view(); }
  RunControl* control() { return control_.data(); }
  double bytes() const { return static_cast<double>(memory_.bytes()); }

 private:
  DeviceArray<std::byte> memory_;
  StateBlock block_;
  DeviceArray<std::uint64_t> key_;
  DeviceArray<std::uint32_t> replica_;
  DeviceArray<std::int32_t> rung_;
  DeviceArray<RunControl> control_;
};

}  // namespace kiln::cli
