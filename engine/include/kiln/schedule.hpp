// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "kiln/budget.hpp"
#include "kiln/export.hpp"
#include "kiln/fix.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/interfaces.hpp"
#include "kiln/options.hpp"
#include "kiln/space.hpp"

namespace kiln {

class AllocateContext;
class Archive;
class DescendContext;
class InitializeContext;
struct Problem;
class ReportContext;
struct ReportPoint;
struct Result;
class RunContext;
class RunCore;
class TickContext;

/// An ability of the objective that a schedule cannot do without.
struct Requirement {
  const std::type_info* type = nullptr;
  std::string name;     ///< of the interface, for the message
  std::string purpose;  ///< what it is needed for, a sentence
  Fix fix;              ///< may be empty
};

/// How the ticks of a schedule are paced.
enum class Pacing : std::uint8_t {
  /// The same launches each time, without a wait: ticks are captured and replayed.
  device,
  /// enqueue() waits for the device or decides on the host.
  host,
  /// The same, with models of its own that are heavy work for a device: only then device `auto` is
  /// a GPU for an objective that is called on the host.
  models,
};

/// What a schedule needs of the engine, asked before anything is allocated; plans ask again.
struct Needs {
  // Sizes.
  std::int64_t groups = 1;  ///< must divide the replicas
  /// Where not 0, `groups` is not read: there are as many groups of this size as the replicas make,
  /// and the replicas must be a multiple of it.
  std::int64_t group_size = 0;
  /// Where not 0, the replicas of a run for which the user gives no number.
  std::int64_t default_replicas = 0;
  /// Replicas that the default is raised to; a number that the user gives is taken as it is.
  std::int64_t min_replicas = 0;
  std::uint32_t sweeps_per_tick = 1;   ///< steps that one enqueue() stands for
  std::int64_t default_sweeps = 1000;  ///< where the budget has no limit at all

  // Pace.
  Pacing pacing = Pacing::device;
  /// Whether initialize() chooses the first states: the engine draws none and evaluates nothing
  /// before, and energies stay +infinity. States that the user gives are written.
  bool own_states = false;
  /// Whether descend() brings states down: only then the engine calls it.
  bool descends_at_end = false;

  // Requirements.
  /// Whether some sweeps are by SweepRule::heat_bath: the engine refuses spaces that it cannot make
  /// them for, and allocates what they need.
  bool heat_bath = false;
  /// Whether every value of a state has a place of its own in memory, so that one of them can be
  /// written (ProposeMove, AcceptMove): spins and bits lie in Layout::i8 instead of packed32. A
  /// sweep is then made of proposals and evaluations, at the price of an evaluation for each
  /// attempt.
  bool unpacked = false;
  /// Whether the schedule takes constraints of an objective with one value
  /// (Objective::constraints): the engine refuses such objectives otherwise.
  bool constraints = false;
  std::vector<Requirement> requirements = {};

  /// The engine refuses objectives that do not offer `A`, which schedules then get by
  /// RunContext::objective<A>(). Who requires VectorValued takes objectives of several values and
  /// no others.
  template <class A>
  void require(std::string purpose, Fix fix = {}) {
    requirements.push_back(
        {&typeid(A), std::string(A::interface_name), std::move(purpose), std::move(fix)});
  }
  template <class A>
  bool requires_ability() const noexcept {
    for (const Requirement& one : requirements) {
      if (*one.type == typeid(A)) return true;
    }
    return false;
  }
};

/// A strategy: what is done to the replicas, tick after tick.
///
/// allocate() takes the memory that is the schedule's own, initialize() makes its first launches;
/// enqueue() then puts exactly one tick on the run's queue: the same launches each time, no
/// allocation, no copy, no wait. The engine captures and replays it where the backend can. (Not so
/// with another Pacing.) A schedule object serves one run at a time.
///
/// A plan calls allocate() too, on a run that only counts (RunContext::counts_only()), and needs()
/// before and after it: each call of needs() forgets what was resolved before. So a schedule that
/// serves a run is refused (`schedule.in_use`).
///
/// What only some schedules do are interfaces beside this class: ProducesFront,
/// TakesPastEvaluations. Such a schedule is an Offers<Schedule, ProducesFront>.
class KILN_API Schedule : public Queryable {
 public:
  ~Schedule() override;
  virtual std::string name() const = 0;
  /// What one step of a replica is called: "sweep", "generation", "batch", "transition". The budget
  /// counts steps (Budget::sweeps).
  virtual std::string_view step_name() const { return "sweep"; }
  /// The options as they were resolved, for the result.
  virtual std::map<std::string, std::string> parameters() const = 0;
  virtual Needs needs(const Problem& problem, const Budget& budget) = 0;
  virtual void allocate(AllocateContext& run) = 0;
  /// Called once, when the memory that allocate() asked for is filled. May wait. The default has
  /// nothing to do.
  virtual void initialize(InitializeContext& run);
  virtual void enqueue(TickContext& run) = 0;
  /// Adds notes to a report point, from what the host knows: no launch, no wait. The default has
  /// none.
  virtual void annotate(ReportPoint& point) const;
  /// Brings the current states down (a greedy descent) when a time limit or a user ended the run.
  /// Called with Needs::descends_at_end only. May enqueue work and wait. What it changes counts for
  /// the result alone: the run goes on from the states before.
  virtual void descend(DescendContext& run);
  /// Adds diagnostics, series and advice to a result. May wait. The default has nothing to add.
  virtual void report(ReportContext& run, Result& result);
  /// Save and load members of the schedule on the host that change during a run. Device memory
  /// from AllocateContext::scratch is saved by the run. The defaults have nothing else.
  virtual void save(Archive& archive) const;
  virtual void load(const Archive& archive);

 private:
  friend class RunCore;
  const RunCore* serves_ = nullptr;  // plans and other runs are refused meanwhile
};

/// Of schedules that keep more of a front than the best state of each replica.
class KILN_API ProducesFront {
 public:
  static constexpr std::string_view interface_name = "front";
  /// Candidates for the front of a problem with several objectives.
  virtual FrontCandidates front(ReportContext& run) = 0;

 protected:
  ~ProducesFront() = default;
};

/// Of schedules whose models learn from evaluations that were made before.
class KILN_API TakesPastEvaluations {
 public:
  static constexpr std::string_view interface_name = "past evaluations";
  /// Tells of an evaluation, before the run: values and constraints in the user's sense and units,
  /// NaN where it failed. @throws InvalidArgument where it does not fit, from needs() or here.
  virtual void add_past(State state, std::vector<double> values,
                        std::vector<double> constraints) = 0;

 protected:
  ~TakesPastEvaluations() = default;
};

/// Of schedules that count evaluations among their options.
class KILN_API EndsAtEvaluations {
 public:
  static constexpr std::string_view interface_name = "end at evaluations";
  /// Ends a run at the number of evaluations among its options even where a budget gives another
  /// limit: the last batch has no point beyond that number. Before a run.
  virtual void end_at_evaluations() = 0;

 protected:
  ~EndsAtEvaluations() = default;
};

/// A schedule with a table of options, which result and interfaces follow from.
template <class Options, class... Interfaces>
class ScheduleOf : public Offers<Schedule, Interfaces...> {
 public:
  std::map<std::string, std::string> parameters() const override {
    return Options::table().show(resolved_);
  }

 protected:
  explicit ScheduleOf(Options options) : options_(std::move(options)), resolved_(options_) {}
  Options options_;   ///< as the user gave them
  Options resolved_;  ///< as a run takes them
};

}  // namespace kiln
