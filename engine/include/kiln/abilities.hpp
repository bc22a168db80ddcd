// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/surrogate/point_columns.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/space.hpp"

// What an objective that is bound to a queue can do, one interface for each ability. A class says
// which it has by Offers<BoundObjective, ...>; schedules and engine ask by BoundObjective::as<>().
// Another ability is another class like these. Only plans list them: one that schedules use in
// allocate() is an ability of CountedObjective (engine/src/own_bytes.cpp), too.
namespace kiln {

class Queue;
struct PairwiseView;

/// Arguments of Evaluates::evaluate.
struct EvaluateArgs {
  ReplicaBatch& batch;
  View1<double> energy;  ///< [slots], overwritten, stored units
  View1<const std::uint32_t>
      active_rungs;  ///< [rungs], slots of rungs with 0 may be skipped; empty: all
  const RunControl* control = nullptr;
  /// [constraints][slots], met where at most 0; written for the slots that are evaluated, NaN where
  /// the objective gave no number. Empty: not wanted.
  View2<double> constraint = {};
};

/// Computes the energies of a batch.
class KILN_API Evaluates {
 public:
  static constexpr std::string_view interface_name = "evaluate";
  virtual void evaluate(const EvaluateArgs& args, Queue& queue) = 0;

 protected:
  ~Evaluates() = default;
};

/// Arguments of Sweeps::metropolis_sweep.
struct SweepArgs {
  ReplicaBatch& batch;
  View1<const double> beta;  ///< [rungs], 1/energy in the user's units
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
  double inverse_scale = 1;
  bool energies_needed = true;  ///< false: energies of non-integral models may stay behind
  SweepRule rule = SweepRule::metropolis;
  /// [rungs], lambda of each; empty: that of the problem. Needs Parametric.
  View1<const double> parameter = {};
  /// [rungs], slots of rungs with 0 are left alone; empty: all are swept.
  View1<const std::uint32_t> active_rungs = {};
};

/// Sweeps replicas by a kernel of its own, in the layout that it prefers.
class KILN_API Sweeps {
 public:
  static constexpr std::string_view interface_name = "metropolis_sweep";
  /// Makes one sweep by `args.rule`; energies are correct afterwards.
  virtual void metropolis_sweep(const SweepArgs& args, Queue& queue) = 0;

 protected:
  ~Sweeps() = default;
};

/// Arguments of VectorValued::evaluate_objectives.
struct ObjectivesArgs {
  std::span<const StateBlock> state;  ///< the blocks of the space, of a batch or of others like it
  std::int64_t replicas = 0;
  PointColumns columns;             ///< where values of a slot belong
  View2<double> value;              ///< [objectives][columns]
  View1<double> violation;          ///< [columns]
  View1<std::uint64_t> not_finite;  ///< [slots], see ObjectiveValues; may be empty
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
  View2<double> constraint = {};  ///< [constraints][columns], met where at most 0; may be empty
};

/// Computes the values of an objective that has several (Space::outputs).
class KILN_API VectorValued {
 public:
  static constexpr std::string_view interface_name = "several values";
  virtual void evaluate_objectives(const ObjectivesArgs& args, Queue& queue) = 0;

 protected:
  ~VectorValued() = default;
};

/// Keeps a gradient for each chain.
class KILN_API Differentiates {
 public:
  static constexpr std::string_view interface_name = "gradient";
  /// [dimension][slots], of the potential that each chain last moved in, at its present position.
  virtual View2<double> gradient() const noexcept = 0;
  /// [slots], of that gradient. Kernels that move a chain set it to NaN to invalidate its gradient.
  virtual View1<double> gradient_weight() const noexcept = 0;

 protected:
  ~Differentiates() = default;
};

/// Arguments of HamiltonianMoves::hmc_transition and NoUTurnMoves::nuts_transition.
struct TransitionArgs {
  ReplicaBatch& batch;
  View1<const double> beta;       ///< [rungs], 1/energy
  View1<const double> parameter;  ///< [rungs], lambda of E = base + lambda term; empty: 1
  MetricView metric;              ///< diagonal where the space has bounds
  View1<const HmcTuning> tuning;  ///< [pools], of rung numbers modulo its size; so the metric
  TransitionStatistics statistics;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
};

/// Makes Hamiltonian transitions of a fixed number of leapfrogs: one block of reals in f64, with a
/// gradient.
class KILN_API HamiltonianMoves {
 public:
  static constexpr std::string_view interface_name = "hmc_transition";
  /// Allocates what transitions need beyond prepare(); before the first tick.
  virtual void prepare_hmc(Queue&) {}
  /// Makes one transition of every chain; energies, gradients and their parts are correct
  /// afterwards.
  virtual void hmc_transition(const TransitionArgs& args, Queue& queue) = 0;

 protected:
  ~HamiltonianMoves() = default;
};

/// Makes transitions by the no-U-turn sampler. They keep whole trajectories, so that their memory
/// is asked for separately.
class KILN_API NoUTurnMoves {
 public:
  static constexpr std::string_view interface_name = "nuts_transition";
  virtual void prepare_nuts(Queue&) {}
  virtual void nuts_transition(const TransitionArgs& args, Queue& queue) = 0;

 protected:
  ~NoUTurnMoves() = default;
};

/// Arguments of Descends::descend.
struct DescentArgs {
  ReplicaBatch& batch;
  View1<const double> beta;            ///< [rungs]; chains where it is infinite descend
  View1<const double> parameter = {};  ///< [rungs], lambda of E = base + lambda term; empty: 1
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
  double energy_tol = 0;     ///< a chain ends where a step gains less energy than this
  std::int32_t steps = 100;  ///< at most
};

/// Brings chains of infinite beta down to the minima below them by their gradients; energies,
/// gradients and their parts are correct afterwards.
class KILN_API Descends {
 public:
  static constexpr std::string_view interface_name = "descent";
  /// Allocates what descents need beyond prepare(); before the first tick.
  virtual void prepare_descent(Queue&) {}
  virtual void descend(const DescentArgs& args, Queue& queue) = 0;

 protected:
  ~Descends() = default;
};

/// The energies of replicas in both parts of a family E_lambda = A + lambda B, in stored units:
/// what exchange between rungs of different lambda needs.
struct EnergyComponents {
  View1<double> base;  ///< [slots], A
  View1<double> term;  ///< [slots], B
};

/// Belongs to a family E_lambda = A + lambda B, of which each replica can have its own lambda.
class KILN_API Parametric {
 public:
  static constexpr std::string_view interface_name = "parameters";
  /// Energy components of the present states, one for each slot. They belong to the replicas:
  /// kernels that move these move them too.
  virtual EnergyComponents components() noexcept = 0;

 protected:
  ~Parametric() = default;
};

/// Is a pairwise model whose state is block 0 in packed32: for schedules that have moves of their
/// own for such models.
class KILN_API PairwiseModelled {
 public:
  static constexpr std::string_view interface_name = "pairwise model";
  /// The model in device memory.
  virtual const PairwiseView& pairwise_model() const noexcept = 0;

 protected:
  ~PairwiseModelled() = default;
};

/// Calls a function of the user on the host, whose values can be watched one by one.
class KILN_API Watchable {
 public:
  static constexpr std::string_view interface_name = "watch";
  /// Takes a state, its value (infinite: it has none) and its constraints.
  using Watcher =
      std::function<void(const State& state, double value, std::span<const double> constraints)>;
  /// Sets a watcher that gets each value as soon as it is there, from any thread.
  virtual void watch(Watcher watcher) = 0;

 protected:
  ~Watchable() = default;
};

}  // namespace kiln
