// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/backend.hpp"
#include "kiln/budget.hpp"
#include "kiln/evaluations.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/end_tick.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/objective.hpp"
#include "kiln/observer.hpp"
#include "kiln/problem.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/result.hpp"
#include "kiln/schedule.hpp"

// What a run shows its schedule, one class for each phase, so that a call in the wrong phase does
// not compile. A helper of a schedule takes the smallest context that it can do with.
namespace kiln {

class RunCore;

/// What every phase sees.
class KILN_API RunContext {
 public:
  explicit RunContext(RunCore& core) noexcept : core_(core) {}

  const Problem& problem() const noexcept;
  const Budget& budget() const noexcept;
  const OpenedBackend& backend() const noexcept;
  ReplicaBatch& batch() const noexcept;
  Queue& queue() const noexcept;
  RunControl* control() const noexcept;
  /// Number of initial states, of the user or known of the problem; 0: replicas start at random.
  std::size_t given_states() const noexcept;
  /// Whether an earlier stage of a pipeline hands its replicas to this one (HasStages). They then
  /// count as given states.
  bool continues() const noexcept;
  /// The betas of the rungs of that stage when it ended; empty where it had none.
  const std::vector<double>& handed_betas() const noexcept;
  /// How sweeps name their random words. With DrawNaming::planes the groups of a batch whose
  /// schedule has Needs::ladders_in_blocks are blocks of 32 ladders.
  DrawNaming draw_naming() const noexcept;
  /// Energy per unit of stored energy: what betas are multiplied by.
  double inverse_scale() const noexcept;
  /// Whether this run only counts what allocate() takes: values on its device mean nothing, and
  /// nothing follows. A schedule that allocates later, or as it finds values to be, allocates then
  /// as much as that may become.
  bool counts_only() const noexcept;

  /// The bound objective, to be asked whether it can do something: `objective().as<Descends>()`.
  BoundObjective& objective() const noexcept;
  /// The bound objective as an ability that the schedule requires (Needs::require).
  /// @throws InvalidArgument `objective.ability` if it has none; `run.counts_only` where this run
  /// only counts and the ability is none of Kiln's.
  template <class A>
  A& objective() const {
    A* const ability = objective().template as<A>();
    if (ability == nullptr) refuse_objective(A::interface_name, typeid(A));
    return *ability;
  }

  /// Values in device memory, copied to the host; waits. What scratch holds in small arrays is
  /// copied at once when a report first asks for one of them.
  template <class T>
  std::vector<std::remove_const_t<T>> read(View1<T> view) const {
    using Value = std::remove_const_t<T>;
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> values(static_cast<std::size_t>(view.size));
    read_bytes(values.data(), view.data, values.size() * sizeof(Value));
    return values;
  }

 protected:
  RunCore& core() const noexcept { return core_; }

 private:
  [[noreturn]] void refuse_objective(std::string_view ability, const std::type_info& type) const;
  void read_bytes(void* host, const void* device, std::size_t bytes) const;
  RunCore& core_;
};

/// Schedule::allocate: the memory of a schedule.
class KILN_API AllocateContext : public RunContext {
 public:
  using RunContext::RunContext;

  /// Device memory that is the schedule's own, filled from the host. It belongs to the run: it is
  /// freed with it, and saved and restored under its name. Small arrays lie together and go up in
  /// one copy, so they are filled when allocate() has returned.
  /// @throws InvalidArgument if the name is taken, or for a size that no memory has.
  template <class T>
  View1<T> scratch(const std::string& name, const std::vector<T>& initial) const {
    static_assert(std::is_trivially_copyable_v<T>);
    void* memory =
        new_scratch(name, initial.data(), static_cast<std::int64_t>(initial.size()), sizeof(T));
    return {static_cast<T*>(memory), static_cast<std::int64_t>(initial.size())};
  }

  /// The same, filled with zero bytes.
  template <class T>
  View1<T> scratch_zeros(const std::string& name, std::int64_t size) const {
    static_assert(std::is_trivially_copyable_v<T>);
    void* memory = new_scratch(name, nullptr, size, sizeof(T));
    return {static_cast<T*>(memory), size};
  }

  /// The same for values that a checkpoint leaves out: initialize() writes them, or each launch
  /// that reads them wrote them itself.
  template <class T>
  View1<T> workspace(const std::string& name, std::int64_t size) const {
    static_assert(std::is_trivially_copyable_v<T>);
    void* memory = new_scratch(name, nullptr, size, sizeof(T), false);
    return {static_cast<T*>(memory), size};
  }

  /// Says what the saved values of a scratch array always are: `holds(values)` of a vector of T. A
  /// checkpoint with other values is refused before any kernel sees them. Whatever a kernel takes
  /// for an index, a length or a member of an enumeration needs such a rule.
  template <class T, class Holds>
  void require_saved(const std::string& name, Holds holds) const {
    static_assert(std::is_trivially_copyable_v<T>);
    check_saved(name, [holds = std::move(holds)](std::span<const std::byte> bytes) {
      std::vector<T> values(bytes.size() / sizeof(T));
      if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
      return holds(values);
    });
  }
  /// The same: all values lie between `least` and `most`.
  template <class T>
  void require_saved_between(const std::string& name, std::int64_t least, std::int64_t most) const {
    require_saved<T>(name, [least, most](const std::vector<T>& values) {
      for (const T value : values) {
        const auto number = static_cast<std::int64_t>(value);
        if (number < least || number > most) return false;
      }
      return true;
    });
  }
  /// The same: no kernel changes the values.
  template <class T>
  void require_saved_equal(const std::string& name, std::vector<T> initial) const {
    require_saved<T>(name, [initial = std::move(initial)](const std::vector<T>& values) {
      return values.size() == initial.size() &&
             (values.empty() ||
              std::memcmp(values.data(), initial.data(), values.size() * sizeof(T)) == 0);
    });
  }

  /// Says which temperatures the report shows.
  void show_beta(View1<const double> beta) const noexcept;
  /// Says which betas the next stage of a pipeline gets [rungs]; without, those that are shown.
  void hand_betas(View1<const double> betas) const noexcept;
  /// Says where the schedule counts its gradients (WorkKind::gradients), in parts. A work limit
  /// ends the run after the tick at whose end they add up to it.
  void count_work(View1<const std::uint64_t> gradients) const noexcept;

 private:
  void* new_scratch(const std::string& name, const void* data, std::int64_t size, std::size_t each,
                    bool saved = true) const;
  void check_saved(const std::string& name,
                   std::function<bool(std::span<const std::byte>)> holds) const;
};

/// What moves replicas, in the phases that do.
class KILN_API WorkContext : public RunContext {
 public:
  using RunContext::RunContext;

  /// New uniform states for the slots of rungs whose flag is set (all, if the view is empty), and
  /// their energies. Before sweep `step_offset` of the tick: nothing is drawn if the limit of the
  /// run leaves that sweep out.
  void redraw(View1<const std::uint32_t> active_rungs, std::uint32_t step_offset = 0) const;
  /// Puts slots of rungs whose flag is set back into the best state that they were seen in, before
  /// sweep `step_offset` of the tick.
  void restore_best(View1<const std::uint32_t> active_rungs, std::uint32_t step_offset = 0) const;
  /// One sweep of all replicas: by the objective's own sweep, else by proposals and evaluations.
  /// `step_offset` numbers the sweeps of a tick from 0. Heat bath must be among Needs, and
  /// Parametric for `parameter`, which has the lambda of each rung; empty: that of the problem.
  /// Slots of rungs whose flag in `only` is 0 are left alone; empty: all are swept.
  void sweep(View1<const double> beta, std::uint32_t step_offset, bool energies_needed,
             SweepRule rule = SweepRule::metropolis, View1<const double> parameter = {},
             View1<const std::uint32_t> active_rungs = {}) const;
  /// sweep() for each row of `beta`, with as few launches as the objective allows. Sweep s uses the
  /// betas of row s; a stride of 0 gives all sweeps the same betas. Energies are correct
  /// after the last one if `energies_needed`.
  void sweep_in_row(View2<const double> beta, bool energies_needed,
                    SweepRule rule = SweepRule::metropolis) const;
  /// The kernel that sweep_in_row() launches, for a launch that does more; empty where the
  /// objective sweeps in another way, or does more itself.
  std::optional<MetropolisSweep> sweep_kernel(View2<const double> beta,
                                              SweepRule rule = SweepRule::metropolis) const;
  /// Energies of the present states, for slots of rungs whose flag is set (all, if the view is
  /// empty), and the values of the constraints where these are wanted: [constraints][slots].
  /// @throws InvalidArgument `objective.ability` for an objective of several values.
  void evaluate(View1<double> energy, View1<const std::uint32_t> active_rungs,
                View2<double> constraint = {}) const;
  void track_best() const;
  /// An evaluation whose values the schedule has read, for RunOptions::on_evaluation.
  void tell_evaluation(const Evaluation& one) const;
};

/// Schedule::initialize: the first launches.
class KILN_API InitializeContext : public WorkContext {
 public:
  using WorkContext::WorkContext;
  /// box_of() the problem, made when it is first asked for: where the true front is not known, that
  /// takes evaluations.
  const FrontBox& front_box() const;
};

/// Schedule::enqueue: one tick.
class KILN_API TickContext : public WorkContext {
 public:
  using WorkContext::WorkContext;
  /// Whether the run ends at the sweeps of its budget: no call continues beyond them, and the run
  /// was not loaded. Where this changes, ticks are enqueued anew, captured ones too.
  bool ends_with_budget() const noexcept;
  /// Whether the number of ticks before this one may be a multiple of `ticks`, at least 1. What a
  /// schedule does after every so many ticks needs no launches in the others. Kernels still decide
  /// for themselves, because a tick that is captured alone does not know its number: the answer is
  /// then true.
  bool may_follow(std::int64_t ticks) const noexcept;
  /// After so many ticks, at least 1, may_follow(ticks) may be true again.
  std::int64_t ticks_until(std::int64_t ticks) const noexcept;
  /// Ticks that this call may enqueue as one launch, at least 1. More than 1 where
  /// Executor::resident asks for a launch that keeps replicas on multiprocessors from tick to tick.
  std::int64_t ticks_at_once() const noexcept;
  /// Says that this call enqueues so many ticks. Their launch ends each of them (end_kernel()).
  /// @throws InvalidArgument `schedule.ticks` for a number that is not 1 to ticks_at_once()
  void enqueued(std::int64_t ticks) const;
  /// Says why this call enqueues one tick alone, a sentence without its point: the message of a run
  /// to which the executor does not apply.
  void refuse_more(std::string reason) const;
  /// What follows is too expensive to be given up with the tick.
  void keep_tick() const noexcept;
  /// track_best() and the end of the tick, in fewer launches: the last call of a tick.
  void finish_tick() const;
  /// The kernel that finish_tick() launches, for a launch that does more. The schedule then ends
  /// the tick.
  EndTick end_kernel() const;
};

/// Schedule::descend: ticks that lead down, which the schedule itself ends.
class KILN_API DescendContext : public WorkContext {
 public:
  using WorkContext::WorkContext;
  void end_tick() const;
  /// The same for a tick whose sweeps do not count as steps of the schedule.
  void end_tick_of_no_steps() const;
};

/// Schedule::report and ProducesFront::front: what was found.
class KILN_API ReportContext : public RunContext {
 public:
  using RunContext::RunContext;
  /// The best energy of each replica [replicas], stored units. The same numbers that the solutions
  /// were chosen by, so nothing is copied for them again.
  const std::vector<double>& best_energies() const noexcept;
  /// Values of slots in the order of the replicas, which differ where a schedule moves replicas
  /// between slots. Padding is left out.
  template <class T>
  std::vector<T> by_replica(const std::vector<T>& of_slots) const {
    std::vector<T> values;
    for (const std::int64_t slot : slots_of_replicas()) {
      values.push_back(of_slots[static_cast<std::size_t>(slot)]);
    }
    return values;
  }
  /// Steps of the earlier stages of a pipeline, which Result counts, too.
  std::int64_t earlier_steps() const noexcept;
  /// See Run::seconds_at().
  double seconds_at(std::uint64_t step) const;
  /// Evaluations that a box of the front has taken so far.
  std::int64_t box_evaluations() const noexcept;

 private:
  const std::vector<std::int64_t>& slots_of_replicas() const noexcept;
};

}  // namespace kiln
