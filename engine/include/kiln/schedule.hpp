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

/// An ability of the objective that a schedule requires.
struct Requirement {
  const std::type_info* type = nullptr;
  std::string name;     ///< name of the interface, for the message
  std::string purpose;  ///< why the schedule needs it, a sentence
  Fix fix;              ///< may be empty
};

/// How the ticks of a schedule are paced.
enum class Pacing : std::uint8_t {
  /// The same launches each time, without a wait: ticks are captured and replayed.
  device,
  /// enqueue() waits for the device or decides on the host.
  host,
  /// As `host`, with surrogate models that are heavy work for a device: only then does device
  /// `auto` choose a GPU for an objective that is called on the host.
  models,
};

/// A schedule's requirements of the engine, queried before anything is allocated and again by
/// plans.
struct Needs {
  // Sizes.
  std::int64_t groups = 1;  ///< must divide the replicas
  /// If not 0, `groups` is not read: the replicas are divided into groups of this size and must be
  /// a multiple of it.
  std::int64_t group_size = 0;
  /// If not 0, the replicas of a run for which the user gives no number.
  std::int64_t default_replicas = 0;
  /// The default is raised to this number; a number that the user gives is used as it is.
  std::int64_t min_replicas = 0;
  std::uint32_t sweeps_per_tick = 1;   ///< steps of one enqueue()
  std::int64_t default_sweeps = 1000;  ///< sweeps of a run whose budget has no limit
  /// Whether the run keeps draws, which conditions are about (Budget::until). `default_sweeps` then
  /// end it beside conditions and a work limit, too.
  bool keeps_draws = false;

  // Pace.
  Pacing pacing = Pacing::device;
  /// Whether initialize() chooses the first states: the engine then draws and evaluates none
  /// before, and energies stay +infinity. States that the user gives are written.
  bool own_states = false;
  /// Whether the engine calls descend() to improve states at the end.
  bool descends_at_end = false;

  // Requirements.
  /// Whether some sweeps use SweepRule::heat_bath: the engine refuses spaces that do not support
  /// it, and allocates its memory.
  bool heat_bath = false;
  /// Whether every value of a state needs a separate place in memory, so that a kernel can write it
  /// alone (ProposeMove, AcceptMove): spins and bits lie in Layout::i8 instead of packed32. A sweep
  /// is then made of proposals and evaluations, at the cost of one evaluation for each attempt.
  bool unpacked = false;
  /// Whether the replicas of a group have one temperature and stay in their slots. Then a run whose
  /// groups are multiples of 32 replicas can draw by planes (DrawNaming).
  bool groups_share_words = false;
  /// Whether the 32 replicas of a word decide by the same random numbers (DrawNaming::shared). Only
  /// a schedule that weighs no replica against another may set it: replicas depend on each other.
  bool shared_noise = false;
  /// Whether groups are ladders that can lie in blocks of 32 (LadderPlaces). Then a run with a
  /// multiple of 32 ladders can draw by planes: a group of its batch is a block.
  bool ladders_in_blocks = false;
  /// Whether the schedule handles constraints of a single-valued objective
  /// (Objective::constraints); if not, the engine refuses such objectives.
  bool constraints = false;
  std::vector<Requirement> requirements = {};
  /// Names of the components whose kernels the schedule launches, beside those of Kiln. The engine
  /// refuses a device without them; device `auto` then chooses the CPU.
  std::vector<std::string> components = {};

  /// The engine refuses objectives that do not offer `A`; schedules get it by
  /// RunContext::objective<A>(). A schedule that requires VectorValued takes vector-valued
  /// objectives only.
  template <class A>
  void require(std::string purpose, Fix fix = {}) {
    requirements.push_back(
        {&typeid(A), std::string(A::interface_name), std::move(purpose), std::move(fix)});
  }
  /// The schedule launches kernels of `Component`, which is none of Kiln's.
  template <class Component>
  void launches() {
    components.emplace_back(Component::name);
  }
  template <class A>
  bool requires_ability() const noexcept {
    for (const Requirement& one : requirements) {
      if (*one.type == typeid(A)) return true;
    }
    return false;
  }
};

/// A strategy that updates the replicas, tick after tick.
///
/// allocate() allocates the schedule's memory; initialize() makes the first launches. enqueue()
/// then puts one tick on the run's queue (several where TickContext::ticks_at_once() says so): the
/// same launches each time, no allocation, no copy, no wait. The engine captures and replays it
/// where the backend can. (Other values of Pacing relax this.) A schedule object serves one run at
/// a time.
///
/// A plan calls allocate() too, on a run that only counts (RunContext::counts_only()), and needs()
/// before and after it: each call of needs() discards the resolved options. So a schedule that
/// serves a run is refused (`schedule.in_use`).
///
/// Abilities of some schedules are interfaces beside this class: ProducesFront,
/// TakesPastEvaluations, SetsTemperatures. Such a schedule is an Offers<Schedule, ProducesFront>.
class KILN_API Schedule : public Queryable {
 public:
  ~Schedule() override;
  virtual std::string name() const = 0;
  /// The name of one step of a replica: "sweep", "generation", "batch", "transition". The budget
  /// counts steps (Budget::sweeps).
  virtual std::string_view step_name() const { return "sweep"; }
  /// The resolved options, for the result.
  virtual std::map<std::string, std::string> parameters() const = 0;
  virtual Needs needs(const Problem& problem, const Budget& budget) = 0;
  /// What a work limit counts. Attempts and evaluations become sweeps before the run: a sweep makes
  /// an attempt for each variable, or an evaluation, of each replica. Gradients differ from sweep
  /// to sweep: the schedule counts them on the device (AllocateContext::count_work).
  virtual WorkKind work_kind() const noexcept { return WorkKind::attempts; }
  virtual void allocate(AllocateContext& run) = 0;
  /// Called once, when the memory from allocate() is filled. May wait. The default does nothing.
  virtual void initialize(InitializeContext& run);
  virtual void enqueue(TickContext& run) = 0;
  /// Adds notes to a report point, from values on the host: no launch, no wait. `sweeps` of the
  /// point are those of this schedule, without earlier stages of a pipeline. The default adds none.
  virtual void annotate(ReportPoint& point) const;
  /// Improves the current states by a greedy descent when a time limit or a user ended the run.
  /// Called with Needs::descends_at_end only. May enqueue work and wait. Its changes count for the
  /// result alone: the run continues from the states before.
  virtual void descend(DescendContext& run);
  /// Adds diagnostics, series and advice to a result. May wait. The default adds nothing.
  virtual void report(ReportContext& run, Result& result);
  /// Save and load host members of the schedule that change during a run. The run saves device
  /// memory from AllocateContext::scratch. The defaults save nothing.
  virtual void save(Archive& archive) const;
  virtual void load(const Archive& archive);

 private:
  friend class RunCore;
  const RunCore* serves_ = nullptr;  // plans and other runs are refused meanwhile
};

/// Ability of schedules that keep more of a front than the best state of each replica.
class KILN_API ProducesFront {
 public:
  static constexpr std::string_view interface_name = "front";
  /// Candidates for the front of a problem with several objectives.
  virtual FrontCandidates front(ReportContext& run) = 0;

 protected:
  ~ProducesFront() = default;
};

/// Ability of schedules whose models learn from past evaluations.
class KILN_API TakesPastEvaluations {
 public:
  static constexpr std::string_view interface_name = "past evaluations";
  /// Adds an evaluation before the run: values and constraints in the user's sense and units, NaN
  /// if it failed. @throws InvalidArgument if it does not fit, from needs() or here.
  virtual void add_past(State state, std::vector<double> values,
                        std::vector<double> constraints) = 0;

 protected:
  ~TakesPastEvaluations() = default;
};

/// Ability of schedules with an option for the number of evaluations.
class KILN_API EndsAtEvaluations {
 public:
  static constexpr std::string_view interface_name = "end at evaluations";
  /// Ends a run at the number of evaluations in the options even if a budget gives another limit:
  /// the last batch has no point beyond that number. Call it before a run.
  virtual void end_at_evaluations() = 0;

 protected:
  ~EndsAtEvaluations() = default;
};

/// Ability of schedules that keep draws: conditions on these can end the run (Budget::until).
class KILN_API LooksAtDraws {
 public:
  static constexpr std::string_view interface_name = "look at draws";
  struct Look {
    bool met = false;        ///< a look is due after these sweeps, and the conditions hold
    std::uint64_t next = 0;  ///< sweeps after which the next look is due; the largest number: never
    std::int64_t looks = 0;  ///< looks so far
  };
  /// Judges the draws if a look is due after `sweeps`, and says when the next one is. Both follow
  /// from options and draws alone, so that every repeat looks at the same draws: a run that was
  /// loaded catches up on earlier looks. May wait, and changes nothing of the run.
  virtual Look look(ReportContext& run, const DrawConditions& conditions, std::uint64_t sweeps) = 0;

 protected:
  ~LooksAtDraws() = default;
};

/// Ability of schedules whose temperatures a command can set between two ticks.
class KILN_API SetsTemperatures {
 public:
  static constexpr std::string_view interface_name = "set temperatures";
  /// Puts temperatures in the place of the present ones. What the schedule has measured at these
  /// starts anew. Called between two ticks of a device that has nothing to do; may wait.
  /// @param run  the run that the schedule serves
  /// @param temperatures  in the unit of the energy, finite and above 0
  /// @throws InvalidArgument that names what the schedule takes, and then changes nothing
  virtual void set_temperatures(RunContext& run, const std::vector<double>& temperatures) = 0;

 protected:
  ~SetsTemperatures() = default;
};

/// Ability of schedules that go on with any state in any replica, of which they know nothing but
/// state and energy: a command can replace states between two ticks.
class KILN_API TakesStates {
 public:
  static constexpr std::string_view interface_name = "take states";

 protected:
  ~TakesStates() = default;
};

/// A schedule with a table of options; parameters and interfaces follow from it.
template <class Options, class... Interfaces>
class ScheduleOf : public Offers<Schedule, Interfaces...> {
 public:
  std::map<std::string, std::string> parameters() const override {
    return Options::table().show(resolved_);
  }

 protected:
  explicit ScheduleOf(Options options) : options_(std::move(options)), resolved_(options_) {}
  Options options_;   ///< as the user gave them
  Options resolved_;  ///< as a run uses them
};

}  // namespace kiln
