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

/// Whether ticks run on the device alone, or wait for the host.
enum class Pace : std::uint8_t { device, host };

/// Where and how an objective runs.
struct Execution {
  bool cpu = true;
  bool cuda = false;
  /// Host: it is called there, whatever the device.
  Pace pace = Pace::device;
  /// Layout per block of the space, in the order of preference of the objective.
  std::vector<Layout> layouts;
};

/// An objective with its data on one device, for one run. What it can do with them are interfaces
/// of kiln/abilities.hpp: `as<Sweeps>()`.
class KILN_API BoundObjective : public Queryable {
 public:
  ~BoundObjective() override;
  /// Called once, before the first tick: allocates what depends on the size of the batch.
  virtual void prepare(ReplicaBatch& batch, Queue& queue);
  /// Save and load what the objective keeps for each replica beyond the batch; a run that is loaded
  /// goes on with the same bits. The defaults keep nothing.
  virtual void save(Archive& archive) const;
  virtual void load(const Archive& archive);
};

/// A function on states as the engine sees it. Immutable; runs on several threads may share one.
class KILN_API Objective : public Queryable {
 public:
  ~Objective() override;
  /// For messages: "maxcut", "my_function".
  virtual std::string name() const = 0;
  virtual const Space& space() const = 0;
  virtual Execution execution() const = 0;
  /// The interfaces that bind() will give, before anything is bound: `Bound::interfaces()` of the
  /// class that it makes.
  virtual InterfaceSet abilities() const = 0;
  template <class A>
  bool offers() const {
    return abilities().has<A>();
  }
  /// Number of constraints g_j(x) <= 0 beside the value or the values; of several values they make
  /// the violation, which every schedule for them takes.
  virtual int constraints() const { return 0; }
  /// Puts the data onto the queue's device.
  virtual std::unique_ptr<BoundObjective> bind(Queue& queue) const = 0;
  /// Bytes that bind() and prepare() will take on a device, for a number of replicas.
  virtual std::uint64_t device_bytes(const DeviceShape& device, std::int64_t replicas) const {
    (void)device, (void)replicas;
    return 0;
  }
  /// Elementary operations of one sweep of one replica: how many sweeps make a tick follows from
  /// it.
  virtual double sweep_cost() const { return static_cast<double>(space().variables()); }
  /// What there is to do, for choose_shape(). The default is evaluations.
  virtual WorkShape work_shape() const { return {}; }
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
  /// The stored energy with its gradient, of objectives that have one on a single block of reals:
  /// what check_gradient() looks at. May be empty.
  virtual EnergyAndGradient gradient_reference() const { return {}; }
  /// Computes the values of a state plainly on the host; empty for objectives with one value.
  virtual std::function<ObjectiveVector(StateSpan)> vector_reference() const { return {}; }
};

/// Of objectives whose Hamiltonian transitions can have so many leapfrogs only.
class KILN_API LimitsLeapfrogs {
 public:
  static constexpr std::string_view interface_name = "leapfrog limit";
  virtual int leapfrog_limit() const = 0;

 protected:
  ~LimitsLeapfrogs() = default;
};

/// A function of the canonical state of one replica, called on the host.
using HostFunction = std::function<double(StateSpan)>;

/// A function of the canonical state of one replica that has constraints: writes their values to
/// `g`, which holds NaN before, and gives the value.
using ConstrainedHostFunction = std::function<double(StateSpan, std::span<double> g)>;

/// An objective from any host callable, called on the host: replicas in parallel if `thread_safe`.
/// On a CUDA queue states are copied to the host and values back with every call, so a run on
/// device `auto` takes the CPU unless its schedule has heavy work of its own
/// (Pacing::models). Exceptions of the function end the run as ObjectiveError, all but
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
