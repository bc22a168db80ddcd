// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/surrogate/point_columns.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"
#include "kiln/objectives/gradient_check.hpp"
#include "kiln/queue.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/space.hpp"

namespace kiln {

class Archive;

/// Whether ticks run on the device alone, or wait for the host.
enum class Pace : std::uint8_t { device, host };

/// The operations that an objective offers.
struct Abilities {
  bool evaluate = true;
  bool metropolis_sweep = false;
  /// Hamiltonian transitions of a fixed length, and NUTS: one block of reals in f64, with a
  /// gradient.
  bool hmc_transition = false;
  bool nuts_transition = false;
  bool descent = false;
  /// Leapfrogs that one transition can have; 0: any number.
  int leapfrog_limit = 0;
  bool cpu = true;
  bool cuda = false;
  /// Parameters of a family of objectives that replicas can have values of their own of (0 or 1):
  /// E_lambda = A + lambda B, see EnergyComponents.
  int parameters = 0;
  /// Constraints g_j(x) <= 0 beside the value or the values; of several values they make the
  /// violation, which every schedule for them takes.
  int constraints = 0;
  Pace pace = Pace::device;
  /// Layout per block of the space, in the order of preference of the objective.
  std::vector<Layout> layouts;
};

/// Arguments of BoundObjective::evaluate.
struct EvaluateArgs {
  ReplicaBatch& batch;
  View1<double> energy;             ///< [slots], overwritten, stored units
  View1<const std::uint32_t> only;  ///< [rungs], slots of rungs with 0 may be skipped; empty: all
  const RunControl* control = nullptr;
  /// [constraints][slots], met where at most 0; written for the slots that are evaluated, NaN where
  /// the objective gave no number. Empty: not wanted.
  View2<double> constraint = {};
};

/// Arguments of BoundObjective::evaluate_objectives.
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

/// Arguments of BoundObjective::metropolis_sweep: one sweep by `rule`, energies correct afterwards.
struct SweepArgs {
  ReplicaBatch& batch;
  View1<const double> beta;  ///< [rungs], 1/energy in the user's units
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
  double inverse_scale = 1;
  bool energies_needed = true;  ///< false: energies of non-integral models may stay behind
  SweepRule rule = SweepRule::metropolis;
  /// [rungs], lambda of each; empty: that of the problem. Needs Abilities::parameters.
  View1<const double> parameter = {};
  /// [rungs], slots of rungs with 0 are left alone; empty: all are swept.
  View1<const std::uint32_t> only = {};
};

/// Arguments of BoundObjective::hmc_transition and nuts_transition: one transition of every chain,
/// with energies, gradients and their parts correct afterwards.
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

/// Arguments of BoundObjective::descend.
struct DescentArgs {
  ReplicaBatch& batch;
  View1<const double> beta;       ///< [rungs]; chains of rungs where it is infinite descend
  View1<const double> parameter;  ///< [rungs], lambda of E = base + lambda term; empty: 1
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;
  double enough = 0;         ///< a chain ends where a step gains less energy than this
  std::int32_t steps = 100;  ///< at most
};

/// The energies of replicas in both parts of a family E_lambda = A + lambda B, in stored units:
/// what exchange between rungs of different lambda needs.
struct EnergyComponents {
  View1<double> base;  ///< [slots], A
  View1<double> term;  ///< [slots], B
};

struct PairwiseView;

/// An objective with its data on one device, for one run.
class KILN_API BoundObjective {
 public:
  /// Takes a state, its value (infinite: it has none) and its constraints.
  using EvaluationWatcher =
      std::function<void(const State& state, double value, std::span<const double> constraints)>;

  virtual ~BoundObjective();
  /// Called once, before the first tick: allocates what depends on the size of the batch.
  virtual void prepare(ReplicaBatch& batch, Queue& queue);
  /// Called by schedules that make transitions, before the first tick: allocates what these need
  /// beyond prepare(). NUTS keeps whole trajectories, so that it is asked for by itself.
  virtual void prepare_transitions(bool no_u_turn, Queue& queue);
  /// The same for descend().
  virtual void prepare_descent(Queue& queue);
  /// Sets a watcher that gets each value as soon as it is there, from any thread. Objectives of
  /// device code have no such moment: the default ignores the watcher.
  virtual void watch(EvaluationWatcher watcher);
  /// Energies of a batch. The default throws InvalidArgument naming the ability.
  virtual void evaluate(const EvaluateArgs& args, Queue& queue);
  virtual void metropolis_sweep(const SweepArgs& args, Queue& queue);
  /// Values of an objective that has several (Space::outputs). The default throws InvalidArgument.
  virtual void evaluate_objectives(const ObjectivesArgs& args, Queue& queue);
  /// One transition of every chain: of a fixed number of leapfrogs, or NUTS. The defaults throw
  /// InvalidArgument naming the ability.
  virtual void hmc_transition(const TransitionArgs& args, Queue& queue);
  virtual void nuts_transition(const TransitionArgs& args, Queue& queue);
  /// Brings chains of infinite beta down to the minima below them, with energies, gradients and
  /// their parts correct afterwards. The default throws InvalidArgument naming the ability.
  virtual void descend(const DescentArgs& args, Queue& queue);
  /// [dimension][slots], of the potential that each chain last moved in, at its present position;
  /// null data without the ability.
  virtual View2<double> gradient() const noexcept { return {}; }
  /// [slots], of that gradient. Kernels that move a chain set it to NaN to invalidate its gradient.
  virtual View1<double> gradient_weight() const noexcept { return {}; }
  /// Save and load what the objective keeps for each replica beyond the batch; a run that is loaded
  /// goes on with the same bits. The defaults keep nothing.
  virtual void save(Archive& archive) const;
  virtual void load(const Archive& archive);
  /// The model in device memory if this is a pairwise one whose state is block 0 in packed32, else
  /// null: for schedules that have moves of their own for such models.
  virtual const PairwiseView* pairwise_model() const noexcept { return nullptr; }
  /// Energy components of the present states, one for each slot; empty views without
  /// Abilities::parameters. They belong to the replicas: kernels that move these move them too.
  virtual EnergyComponents components() noexcept { return {}; }
};

/// A function on states as the engine sees it. Immutable; runs on several threads may share one.
class KILN_API Objective {
 public:
  virtual ~Objective();
  /// For messages: "maxcut", "my_function".
  virtual std::string name() const = 0;
  virtual const Space& space() const = 0;
  virtual Abilities abilities() const = 0;
  /// Puts the data onto the queue's device.
  virtual std::unique_ptr<BoundObjective> bind(Queue& queue) const = 0;
  /// Bytes that bind() and prepare() will take on the CPU or on a CUDA device, for a number of
  /// replicas.
  virtual std::uint64_t device_bytes(bool cuda, std::int64_t replicas) const {
    (void)cuda, (void)replicas;
    return 0;
  }
  /// Elementary operations of one sweep of one replica: how many sweeps make a tick follows from
  /// it.
  virtual double sweep_cost() const { return static_cast<double>(space().variables()); }
  /// Replicas that keep the CPU or a CUDA device busy without making an anneal long; 0: no opinion.
  virtual std::int64_t preferred_replicas(bool cuda) const {
    (void)cuda;
    return 0;
  }
  /// Inverse temperatures between which annealing should run, in 1/stored energy: at `hot` almost
  /// every move is accepted, at `cold` almost none that goes uphill. {0, 0} if it is not known.
  struct BetaRange {
    double hot = 0;
    double cold = 0;
  };
  virtual BetaRange beta_range() const { return {}; }
  /// Where a family has a parameter: that of the problem, and the one from which exchange should
  /// lead to it.
  struct ParameterRange {
    double low = 0;
    double target = 1;
  };
  virtual ParameterRange parameter_range() const { return {}; }
  /// The stored energy of one state computed plainly on the host, for checking; may be empty.
  virtual std::function<double(StateSpan)> reference() const { return {}; }
  /// The values of its constraints, in the same way; empty where there are none.
  virtual std::function<std::vector<double>(StateSpan)> constraint_reference() const { return {}; }
  /// The same with its gradient, of objectives that have one on a single block of reals: what
  /// check_gradient() looks at. May be empty.
  virtual EnergyAndGradient gradient_reference() const { return {}; }
  /// Computes the values of a state plainly on the host; empty for objectives with one value.
  virtual std::function<ObjectiveVector(StateSpan)> vector_reference() const { return {}; }
};

/// A function of the canonical state of one replica, called on the host.
using HostFunction = std::function<double(StateSpan)>;

/// A function of the canonical state of one replica that has constraints: writes their values to
/// `g`, which holds NaN before, and gives the value.
using ConstrainedHostFunction = std::function<double(StateSpan, std::span<double> g)>;

/// An objective from any host callable, called on the host: replicas in parallel if `thread_safe`.
/// On a CUDA queue states are copied to the host and values back with every call, so a run on
/// device `auto` takes the CPU unless its schedule has heavy work of its own
/// (Needs::works_on_device). Exceptions of the function end the run as ObjectiveError, all but
/// EvaluationCutOff: that state has no value, NaN on the device. NaN and infinities that a function
/// gives are infinity there; they are counted and never accepted.
KILN_API std::shared_ptr<const Objective> make_host_objective(std::string name, Space space,
                                                              HostFunction function,
                                                              bool thread_safe = true);

/// The same for functions of one block of reals, or of one permutation.
KILN_API std::shared_ptr<const Objective> make_host_objective(
    std::string name, Space space, std::function<double(std::span<const double>)> function,
    bool thread_safe = true);
KILN_API std::shared_ptr<const Objective> make_host_objective(
    std::string name, Space space, std::function<double(std::span<const std::int32_t>)> function,
    bool thread_safe = true);

/// The same for a function with `constraints` constraints g_j(x) <= 0 (0 to 16).
/// @throws InvalidArgument for another number of them.
KILN_API std::shared_ptr<const Objective> make_constrained_host_objective(
    std::string name, Space space, int constraints, ConstrainedHostFunction function,
    bool thread_safe = true);

}  // namespace kiln
