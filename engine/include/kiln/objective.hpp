// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/abilities.hpp"
#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/interfaces.hpp"
#include "kiln/objectives/gradient_check.hpp"
#include "kiln/queue.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/space.hpp"
#include "kiln/work_shape.hpp"

namespace kiln {

class Archive;

/// Whether ticks run on the device without the host, or wait for the host.
enum class Pace : std::uint8_t { device, host };

/// Where and how an objective runs.
struct Execution {
  bool cpu = true;
  bool cuda = false;
  /// Host: the objective is called on the host, whatever the device.
  Pace pace = Pace::device;
  /// Layout per block of the space, in the objective's order of preference.
  std::vector<Layout> layouts;
};

/// An objective with its data on one device, for one run. Its abilities are the interfaces of
/// kiln/abilities.hpp: `as<Sweeps>()`.
class KILN_API BoundObjective : public Queryable {
 public:
  ~BoundObjective() override;
  /// Called once, before the first tick: allocates memory that depends on the size of the batch.
  virtual void prepare(ReplicaBatch& batch, Queue& queue);
  /// Save and load the objective's state per replica beyond the batch; a loaded run continues with
  /// the same bits. The defaults save nothing.
  virtual void save(Archive& archive) const;
  virtual void load(const Archive& archive);
};

/// A function on states as the engine sees it. Immutable; concurrent runs may share one.
class KILN_API Objective : public Queryable {
 public:
  ~Objective() override;
  /// Name for messages: "maxcut", "my_function".
  virtual std::string name() const = 0;
  virtual const Space& space() const = 0;
  virtual Execution execution() const = 0;
  /// The interfaces of the result of bind(), known before binding: `Bound::interfaces()` of the
  /// class that it makes.
  virtual InterfaceSet abilities() const = 0;
  template <class A>
  bool offers() const {
    return abilities().has<A>();
  }
  /// Number of constraints g_j(x) <= 0 beside the value or values. For vector-valued objectives
  /// they make the violation, which every schedule for such objectives uses.
  virtual int constraints() const { return 0; }
  /// Copies the data to the queue's device.
  virtual std::unique_ptr<BoundObjective> bind(Queue& queue) const = 0;
  /// Bytes that bind() and prepare() take on a device, for a number of replicas.
  virtual std::uint64_t device_bytes(const DeviceShape& device, std::int64_t replicas) const {
    (void)device, (void)replicas;
    return 0;
  }
  /// Elementary operations of one sweep of one replica; it determines the number of sweeps per
  /// tick.
  virtual double sweep_cost() const { return static_cast<double>(space().variables()); }
  /// The shape of the work, for choose_shape(). The default is evaluations.
  virtual WorkShape work_shape() const { return {}; }
  /// Inverse temperatures between which annealing should run, in 1/stored energy: at `hot` almost
  /// every move is accepted, at `cold` almost no uphill move is. {0, 0}: unknown.
  struct BetaRange {
    double hot = 0;
    double cold = 0;
  };
  virtual BetaRange beta_range() const { return {}; }
  /// For a family with a parameter: the problem's value, and the value from which exchange should
  /// approach it.
  struct ParameterRange {
    double low = 0;
    double target = 1;
  };
  virtual ParameterRange parameter_range() const { return {}; }
  /// The stored energy of one state, computed plainly on the host for verification; may be empty.
  virtual std::function<double(StateSpan)> reference() const { return {}; }
  /// The values of the constraints, computed likewise; empty without constraints.
  virtual std::function<std::vector<double>(StateSpan)> constraint_reference() const { return {}; }
  /// The stored energy with its gradient, for objectives that have one on a single block of reals;
  /// check_gradient() uses it. May be empty.
  virtual EnergyAndGradient gradient_reference() const { return {}; }
  /// Computes the values of a state plainly on the host; empty for single-valued objectives.
  virtual std::function<ObjectiveVector(StateSpan)> vector_reference() const { return {}; }
};

/// Ability of objectives whose Hamiltonian transitions have a maximum number of leapfrogs.
class KILN_API LimitsLeapfrogs {
 public:
  static constexpr std::string_view interface_name = "leapfrog limit";
  virtual int leapfrog_limit() const = 0;

 protected:
  ~LimitsLeapfrogs() = default;
};

/// A function of the canonical state of one replica, called on the host.
using HostFunction = std::function<double(StateSpan)>;

/// A function of the canonical state of one replica with constraints: writes their values to `g`,
/// which holds NaN before, and returns the value.
using ConstrainedHostFunction = std::function<double(StateSpan, std::span<double> g)>;

/// Makes an objective from a host callable, called on the host: replicas in parallel if
/// `thread_safe`. On a CUDA queue each call copies states to the host and values back, so device
/// `auto` means the CPU unless the schedule has heavy device work itself (Pacing::models).
/// Exceptions of the function end the run as ObjectiveError, all but EvaluationCutOff: that state
/// has no value, NaN on the device. NaN and infinities that the function returns become infinity;
/// they are counted and never accepted.
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
