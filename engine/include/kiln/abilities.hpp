// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/surrogate/point_columns.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/space.hpp"

// The abilities of an objective that is bound to a queue, one interface each. A class declares its
// abilities by Offers<BoundObjective, ...>; schedules and the engine query them by
// BoundObjective::as<>(). To add an ability, add a class like these. Only plans list them: an
// ability that schedules use in allocate() is an ability of CountedObjective
// (engine/src/own_bytes.cpp), too.
namespace kiln {

class Queue;
struct AcceptMove;
struct PairwiseView;
struct ProposalSweep;
struct ProposeMove;

/// Arguments of Evaluates::evaluate.
struct EvaluateArgs {
  ReplicaBatch& batch;
  View1<double> energy;  ///< [slots], overwritten, stored units
  View1<const std::uint32_t>
      active_rungs;  ///< [rungs], slots of rungs with 0 may be skipped; empty: all
  const RunControl* control = nullptr;
  /// [constraints][slots], met where at most 0; written for the slots that are evaluated, NaN where
  /// the objective gave no number. Empty: not computed.
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
  /// False: energies of non-integral models may lag behind the states
  bool energies_needed = true;
  SweepRule rule = SweepRule::metropolis;
  /// [rungs], lambda of each; empty: the problem's lambda. Needs Parametric.
  View1<const double> parameter = {};
  /// [rungs], slots of rungs with 0 are left alone; empty: all are swept.
  View1<const std::uint32_t> active_rungs = {};
  std::uint32_t sweeps = 1;  ///< in a row, step_offset that of the first; see takes_several()
  std::int64_t beta_stride =
      0;  ///< sweep s uses the betas from s * beta_stride on; 0: all the same
  /// Planes only for objectives that can (DrawsPlanes).
  DrawNaming naming = DrawNaming::words;
};

/// Sweeps replicas with a specialised kernel, in the layout that it prefers.
class KILN_API Sweeps {
 public:
  static constexpr std::string_view interface_name = "metropolis_sweep";
  /// Makes one sweep by `args.rule`; energies are correct afterwards.
  virtual void metropolis_sweep(const SweepArgs& args, Queue& queue) = 0;
  /// Whether metropolis_sweep() obeys SweepArgs::sweeps: else it is called for each sweep.
  virtual bool takes_several() const noexcept { return false; }
  /// The kernel that metropolis_sweep() would launch, where this is all that it does: for launches
  /// that do more than a sweep (LadderTick).
  virtual std::optional<MetropolisSweep> sweep_kernel(const SweepArgs& /*args*/) const {
    return std::nullopt;
  }

 protected:
  ~Sweeps() = default;
};

/// Arguments of SweepsByProposals::sweep_by_proposals.
struct ProposalArgs {
  ReplicaBatch& batch;
  const ProposeMove& propose;  ///< without block, variable and attempt
  const AcceptMove& accept;    ///< likewise
  View1<double> trial_energy;  ///< [slots], that `accept` reads
};

/// Makes sweeps by proposals in one launch, with the bits of the launches for each variable by
/// which a run sweeps objectives without Sweeps.
class KILN_API SweepsByProposals {
 public:
  static constexpr std::string_view interface_name = "sweep by proposals";
  /// @return false: nothing is enqueued, and the run launches the parts
  virtual bool sweep_by_proposals(const ProposalArgs& args, Queue& queue) = 0;

 protected:
  ~SweepsByProposals() = default;
};

/// Arguments of VectorValued::evaluate_objectives.
struct ObjectivesArgs {
  /// the blocks of the space, from a batch or with the same shapes
  std::span<const StateBlock> state;
  std::int64_t replicas = 0;
  PointColumns columns;             ///< the columns where values of a slot are written
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
  /// Enqueues a sweep of proposals that this objective evaluates.
  /// @return false: nothing is enqueued, because the values come from the host
  virtual bool sweep_by_proposals(const ProposalSweep& /*kernel*/, Queue& /*queue*/) {
    return false;
  }

 protected:
  ~VectorValued() = default;
};

/// Keeps a gradient for each chain.
class KILN_API Differentiates {
 public:
  static constexpr std::string_view interface_name = "gradient";
  /// [dimension][slots], gradient of the potential that each chain last moved in, at its position.
  virtual View2<double> gradient() const noexcept = 0;
  /// [slots], weight of that gradient. Kernels that move a chain set it to NaN to invalidate its
  /// gradient.
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
  /// [pools], indexed by rung number modulo its size, as the metric is
  View1<const HmcTuning> tuning;
  TransitionStatistics statistics;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
};

/// Makes Hamiltonian transitions with a fixed number of leapfrogs, on one block of f64 reals with a
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

/// Makes transitions by the no-U-turn sampler. They keep whole trajectories, so their memory is
/// requested separately.
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

/// Moves chains of infinite beta down to a local minimum by their gradients; energies, gradients
/// and their parts are correct afterwards.
class KILN_API Descends {
 public:
  static constexpr std::string_view interface_name = "descent";
  /// Allocates what descents need beyond prepare(); before the first tick.
  virtual void prepare_descent(Queue&) {}
  virtual void descend(const DescentArgs& args, Queue& queue) = 0;

 protected:
  ~Descends() = default;
};

/// Energies of the replicas in both parts of a family E_lambda = A + lambda B, in stored units.
/// Exchange between rungs of different lambda needs both.
struct EnergyComponents {
  View1<double> base;  ///< [slots], A
  View1<double> term;  ///< [slots], B
};

/// Belongs to a family E_lambda = A + lambda B; each replica can have a different lambda.
class KILN_API Parametric {
 public:
  static constexpr std::string_view interface_name = "parameters";
  /// Energy components of the present states, one for each slot. They belong to the replicas:
  /// kernels that move these move them too.
  virtual EnergyComponents components() noexcept = 0;

 protected:
  ~Parametric() = default;
};

/// Is a pairwise model whose state is block 0 in packed32, for schedules with special moves for
/// such models.
class KILN_API PairwiseModelled {
 public:
  static constexpr std::string_view interface_name = "pairwise model";
  /// The model in device memory.
  virtual const PairwiseView& pairwise_model() const noexcept = 0;

 protected:
  ~PairwiseModelled() = default;
};

/// Calls a user's function on the host and can report each value to a watcher.
class KILN_API Watchable {
 public:
  static constexpr std::string_view interface_name = "watch";
  /// Takes a state, its value (infinite: it has none) and its constraints.
  using Watcher =
      std::function<void(const State& state, double value, std::span<const double> constraints)>;
  /// Sets a watcher that gets each value as soon as it is computed, from any thread.
  virtual void watch(Watcher watcher) = 0;

 protected:
  ~Watchable() = default;
};

}  // namespace kiln
