// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/models/similarity.hpp"
#include "kiln/objective.hpp"
#include "kiln/space.hpp"

namespace kiln {

enum class Sense : std::uint8_t { minimize, maximize };

/// (a + b x) / d, a map between units. Integers a + b x below 2^53 make the result the double
/// nearest to the quotient: 3 of the unit 1/10 is 0.3.
struct Affine {
  double offset = 0;
  double factor = 1;
  double divisor = 1;
  double operator()(double x) const { return (offset + factor * x) / divisor + 0.0; }  // never -0
  double inverse(double y) const { return (y * divisor - offset) / factor; }
  double slope() const { return factor / divisor; }
};

/// Names a problem and describes its data for people.
struct ProblemIdentity {
  std::string name;    ///< "gset:G22", a file name, or the user's own
  std::string family;  ///< "maxcut", "qubo", "ising", "potts", "coloring", "function"
  /// Sizes for people, in order: {"n", "2000"}, {"m", "19990"}.
  std::vector<std::pair<std::string, std::string>> sizes = {};
  /// Warnings of the reader about its data, in sentences for people.
  std::vector<std::string> notes = {};
  /// 16 hexadecimal digits that tell it from others of this name; empty: the name suffices, or
  /// they are not known. A run continues and repeats only a problem with the same ones.
  std::string fingerprint = {};
};

/// The sense and the units of objective values.
///
/// Three units: *stored* energies are what the device holds (integers for integral problems);
/// *energy* is what is minimised in the problem's own units; the *objective value* is what the user
/// reads, in the user's sense (a cut, maximised).
struct Units {
  Sense sense = Sense::minimize;
  /// The name of the objective value, for people: "cut", "conflicts", a column's name.
  std::string value_name = "value";
  Affine energy_of_stored = {};     ///< energy = map(stored)
  Affine objective_of_stored = {};  ///< objective value = map(stored)
  bool integral = false;            ///< objective values are integers and exact
  bool stored_integers = false;     ///< stored energies are, even if objective values are not
  /// Rounding that sums of the raw data may carry, in objective units: how far the engine's value
  /// of a state and the recomputed one may differ. Sums that cancel lose digits of their terms, not
  /// of the sum.
  double rounding = 0;
};

/// Objective values known before the search.
struct KnownValues {
  std::optional<double> best = {};  ///< the best value known from other work
  std::string best_source = {};     ///< where `best` is from
  /// An objective value that provably no state can better. A run that reaches it ends as
  /// Stop::converged, unless a target that is no better ends it before. A value that no state
  /// reaches ends no run. With several objectives, it bounds the hypervolume.
  std::optional<double> bound = {};
};

/// Functions on solutions, computed on the host. All but `verify` and `format` may be empty.
struct SolutionFunctions {
  /// Recomputes the objective value of a state from the raw data.
  std::function<double(StateSpan)> verify = {};
  /// Recomputes the constraints of a state, for objectives of one value that have some
  /// (Objective::constraints). A state is feasible where all are at most 0.
  std::function<std::vector<double>(StateSpan)> constraint_values = {};
  /// Writes a solution: one value per line, in the problem's own convention.
  std::function<std::string(StateSpan)> format = {};
  /// Gives the state that such values describe, to start from a solution; empty: they are the
  /// canonical values. @throws InvalidArgument for values that the convention does not know.
  std::function<State(std::span<const double>)> parse = {};
  /// Replaces a state by the representative of all states that a symmetry of the problem makes
  /// equal (a cut and its complement); empty: there is no such symmetry.
  std::function<void(State&)> canonical = {};
  /// The state as it is reported, of a problem whose space leaves out variables because they are
  /// fixed: with these, in the order of `format`. Empty: the state itself.
  std::function<State(StateSpan)> whole = {};
  /// The number of values that `format` writes and `parse` reads; 0: one for each variable.
  std::int64_t whole_variables = 0;
  /// Names the values of a state for people: {"ligand", "XPhos"}; empty: they have no names.
  std::function<std::vector<std::pair<std::string, std::string>>(StateSpan)> named_values = {};
};

/// Hints for the start of a search. Runs that say otherwise ignore them.
struct StartHints {
  /// States known before the search, each in canonical form. Replicas begin in them, repeated as
  /// often as needed, unless RunOptions::initial_states gives others.
  std::vector<State> states = {};
  /// The schedule that suits the problem where the user names none; empty:
  /// Registry::default_schedule().
  std::string schedule = {};
};

/// The quantities that sampling reports of a point, by name: usually its parameters in the units
/// of the model. The point itself is unconstrained.
struct Quantities {
  std::vector<std::string> names;  ///< "mu", "theta[1]", ...: indices from 1, as in the literature
  /// Writes one value per name for a point of the space.
  std::function<void(std::span<const double> point, std::span<double> values)> compute;
};

/// A density to be sampled: the energy is minus its logarithm.
struct Posterior {
  Quantities quantities = {};  ///< empty: the coordinates, as x[1], x[2], ...
};

/// How a model of the objective should see one variable.
struct VariableModel {
  std::string name;          ///< "temperature", "ligand"
  bool categorical = false;  ///< values have no order
  /// Where each category lies between the least (0) and the greatest (1), if categories are
  /// numbers. Empty: the value of the variable itself.
  std::vector<double> levels = {};
  std::vector<std::string> names = {};  ///< of the categories; empty: they have none
  CategorySimilarity similarity = {};   ///< how alike they are, where that is known
};

/// Stands between an objective that calls programs and the process that it runs in. Who owns the
/// process can see to it that no program outlives it; called from several threads.
class KILN_API ProgramKeeper {
 public:
  ProgramKeeper() = default;
  virtual ~ProgramKeeper();
  ProgramKeeper(const ProgramKeeper&) = delete;
  ProgramKeeper& operator=(const ProgramKeeper&) = delete;

  /// Calls `start` with an entry NAME=VALUE for the environment of the program, and returns its
  /// result: the process, which leads a separate process group, or a negative number.
  virtual int start(const std::function<int(const std::string& entry)>& start) = 0;
  /// A process of start() has ended. It is not reaped yet, so that its number stays taken.
  virtual void ended(int process) = 0;
};

/// Duration and outcome of the first evaluation of an expensive objective.
struct FirstEvaluation {
  double seconds = 0;
  std::string sentence;  ///< for people: "the first call gave 0.25 in its output 'loss = 0.25'"
};

/// An objective whose evaluations are measurements, training runs or calls of programs.
struct Experiment {
  bool noisy = false;  ///< evaluations of the same state may differ
  /// All states that have a value, where only some do; null: all of the space.
  std::shared_ptr<const std::vector<State>> candidates = {};
  /// Takes a token for each run: it requests a stop with the run, and when the run's time is up.
  /// Objectives with long calls then cut off those under way (EvaluationCutOff). May be empty.
  std::function<void(std::stop_token)> watch_stop = {};
  /// Takes the keeper of the programs that the objective calls. May be empty.
  std::function<void(std::shared_ptr<ProgramKeeper>)> keep_programs = {};
  /// Takes a listener that the objective tells of its first evaluation. May be empty.
  std::function<void(std::function<void(const FirstEvaluation&)>)> tell_first = {};
  /// Says in a sentence how many evaluations had no value so far, and why the last one had none;
  /// "" if all had one. May be empty.
  std::function<std::string()> failures = {};
};

/// An objective to minimise, maximise or sample, and the facts that its users need.
struct KILN_API Problem {
  ProblemIdentity identity;
  std::shared_ptr<const Objective> objective;
  Units units;
  KnownValues known;
  SolutionFunctions solution;
  StartHints start;
  /// One for each variable of the space, in its order; empty: nothing is known beyond the space.
  std::vector<VariableModel> coordinates = {};
  /// Names, units and front of several objectives; null for a problem with one.
  std::shared_ptr<const Objectives> objectives = {};
  std::optional<Experiment> experiment = {};  ///< where evaluations are expensive or uncertain
  std::optional<Posterior> posterior = {};    ///< where the energy is a density to be sampled

  /// How far behind a target a value may be that reaches it, in objective units: two sums of the
  /// same terms in another order differ by their rounding.
  double target_tolerance() const { return units.integral ? 0 : units.rounding; }
  /// Stored energy at which a target is reached.
  double stored_target(double target) const;
  /// Stored energy of a state whose objective value is `value`.
  double stored_of(double value) const;
  /// Stored energy units per unit of energy.
  double scale() const { return units.energy_of_stored.divisor / units.energy_of_stored.factor; }
  bool better(double a, double b) const { return units.sense == Sense::maximize ? a > b : a < b; }
  /// Whether the objective cuts off evaluations when a run is asked to stop.
  bool watches_stop() const { return experiment && experiment->watch_stop; }
};

/// A problem around any objective whose stored energy is its value: minimised as it is.
KILN_API Problem make_problem(std::shared_ptr<const Objective> objective);

/// A posterior to be sampled: an objective that gives minus the logarithm of its density, and what
/// sampling is to report; without quantities, the coordinates.
KILN_API Problem make_posterior(std::shared_ptr<const Objective> objective,
                                Quantities quantities = {});

/// Spans over a state, for calling functions that take a StateSpan.
KILN_API std::vector<BlockSpan> spans_of(const State& state);

}  // namespace kiln
