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

/// a + b x with exact results for the values that occur: a map between units.
struct Affine {
  double offset = 0;
  double factor = 1;
  double operator()(double x) const { return offset + factor * x + 0.0; }  // never -0
  double inverse(double y) const { return (y - offset) / factor; }
};

/// The quantities that sampling reports of a point, by name: usually its parameters in the units
/// of the model. The point itself is unconstrained.
struct Quantities {
  std::vector<std::string> names;  ///< "mu", "theta[1]", ...: indices from 1, as in the literature
  /// Writes one value per name for a point of the space.
  std::function<void(std::span<const double> point, std::span<double> values)> compute;
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
  std::string sentence;  ///< for people: "./train.sh gave 0.25, read from 'loss = 0.25'"
};

/// An objective to minimise, maximise or sample, and the units of its values.
///
/// Three units: *stored* energies are what the device holds (integers for integral problems);
/// *energy* is what is minimised in the problem's own units; the *objective value* is what the user
/// reads, in the user's sense (a cut, maximised).
struct KILN_API Problem {
  std::string name;    ///< "gset:G22", a file name, or the user's own
  std::string family;  ///< "maxcut", "qubo", "ising", "potts", "coloring", "function"
  std::shared_ptr<const Objective> objective;
  Sense sense = Sense::minimize;
  /// Rounding that sums of the raw data may carry, in objective units: how far the engine's value
  /// of a state and the recomputed one may differ. Sums that cancel lose digits of their terms, not
  /// of the sum.
  double rounding = 0;
  bool integral = false;             ///< objective values are integers and exact
  bool stored_integers = false;      ///< stored energies are, even if objective values are not
  Affine energy_of_stored;           ///< energy = map(stored)
  Affine objective_of_stored;        ///< objective value = map(stored)
  std::optional<double> best_known;  ///< objective value
  std::string best_known_source;
  /// Sizes for people, in order: {"n", "2000"}, {"m", "19990"}.
  std::vector<std::pair<std::string, std::string>> sizes;
  /// The objective value of a state computed anew from the raw data, on the host.
  std::function<double(StateSpan)> verify;
  /// Computes the constraints of a state anew on the host, for objectives of one value that have
  /// some (Objective::constraints). A state is feasible where all are at most 0.
  std::function<std::vector<double>(StateSpan)> constraint_values = {};
  /// How to write a solution: one value per line, in the problem's own convention.
  std::function<std::string(StateSpan)> format_solution;
  /// The state that such values describe, for starting from a solution; empty: they are the
  /// canonical values. @throws InvalidArgument for values that the convention does not know.
  std::function<State(std::span<const double>)> parse_solution;
  /// Replaces a state by the one that stands for all states which a symmetry of the problem makes
  /// equal (a cut and its complement); empty: there is no such symmetry.
  std::function<void(State&)> canonical;

  /// The quantities that sampling reports; empty: the coordinates, as x[1], x[2], ...
  Quantities quantities;
  /// Names, units and front of several objectives; null for a problem with one.
  std::shared_ptr<const Objectives> objectives = {};
  /// One for each variable of the space, in its order; empty: nothing is known beyond the space.
  std::vector<VariableModel> coordinates = {};
  /// The values of a state by name, for people: {"ligand", "XPhos"}; empty: they have no names.
  std::function<std::vector<std::pair<std::string, std::string>>(StateSpan)> named_values = {};
  /// Whether evaluations of the same state may differ: measurements, training runs.
  bool noisy = false;
  /// All states that have a value, where only some do; null: all of the space.
  std::shared_ptr<const std::vector<State>> candidates = {};
  /// Doubts of the reader about its data, in sentences for people.
  std::vector<std::string> notes = {};
  /// The schedule that suits it where the user names none; empty: Registry::default_schedule().
  std::string default_schedule = {};
  /// Given a token that is asked to stop with each run, and when its time is up: objectives whose
  /// calls are long cut off those under way (EvaluationCutOff). May be empty.
  std::function<void(std::stop_token)> watch_stop = {};
  /// Takes the keeper of the programs that the objective calls. May be empty.
  std::function<void(std::shared_ptr<ProgramKeeper>)> keep_programs = {};
  /// Takes a listener that an expensive objective tells of its first evaluation. May be empty.
  std::function<void(std::function<void(const FirstEvaluation&)>)> tell_first = {};
  /// How many evaluations had no value so far and why the last one had none, in a sentence; ""
  /// where all had one. May be empty.
  std::function<std::string()> failures = {};
  /// Whether the energy is minus the logarithm of a density that is to be sampled.
  bool posterior = false;
  /// The name of the objective value, for people: "cut", "conflicts", a column's name.
  std::string value_name = "value";
  /// An objective value that provably no state can better. A run that reaches it ends as
  /// Stop::converged, unless a target that is no better ends it before. A value that no state
  /// reaches ends no run. Of several objectives it bounds the hypervolume.
  std::optional<double> bound = {};
  /// States that are known before the search, each in canonical form. Replicas begin in them,
  /// repeated as often as needed, unless RunOptions::initial_states gives others.
  std::vector<State> known_states = {};

  /// How far behind a target a value may be that reaches it, in objective units: two sums of the
  /// same terms in another order differ by their rounding.
  double target_tolerance() const { return integral ? 0 : rounding; }
  /// Stored energy at which a target is reached.
  double stored_target(double target) const;
  /// Stored energy units per unit of energy.
  double scale() const { return 1.0 / energy_of_stored.factor; }
  bool better(double a, double b) const { return sense == Sense::maximize ? a > b : a < b; }
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
