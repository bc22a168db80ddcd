// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "kiln/errors.hpp"
#include "kiln/replica_batch.hpp"

#include "errors.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "run/initial_states.hpp"

namespace kiln::cli {
namespace {

constexpr std::int64_t points_of_batch = 8192;
constexpr std::int64_t anneal_sweeps = 1000, anneal_replicas = 64;
// Of an axis on the side where the problem has no bound: so far from the point.
constexpr double reach_without_bound = 5;

// A real variable and where a state has it.
struct RealVariable {
  std::string name;
  std::int64_t number = 0;
  std::size_t block = 0, place = 0;
  Bounds bounds;
};

std::vector<RealVariable> real_variables(const Problem& problem) {
  std::vector<RealVariable> reals;
  std::int64_t number = 0;
  const std::vector<Block>& blocks = problem.objective->space().blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::int64_t i = 0; i < blocks[b].count; ++i, ++number) {
      if (blocks[b].kind != BlockKind::real) continue;
      const auto k = static_cast<std::size_t>(number);
      const bool named = k < problem.coordinates.size() && !problem.coordinates[k].name.empty();
      reals.push_back({named ? problem.coordinates[k].name : fmt::format("x[{}]", number + 1),
                       number, b, static_cast<std::size_t>(i), blocks[b].bounds(i)});
    }
  }
  return reals;
}

void require_sliceable(const Problem& problem, const std::vector<RealVariable>& reals,
                       const SliceOptions& options) {
  const std::string name = clean(problem.identity.name);
  const Objective& objective = *problem.objective;
  if (problem.objectives != nullptr || objective.space().outputs() > 1) {
    throw InvalidArgument("landscape.objectives",
                          fmt::format("{} has several objectives, and a landscape has one", name),
                          {}, "kiln solve draws the front of several objectives");
  }
  if (problem.experiment) {
    const std::int64_t points = options.resolution * options.resolution;
    throw InvalidArgument(
        "landscape.expensive",
        fmt::format("a landscape of {} would take {} evaluations of an expensive objective", name,
                    points),
        "a function that Kiln evaluates itself",
        "kiln solve keeps its evaluations in evaluations.csv");
  }
  if (reals.size() < 2 || !objective.offers<Evaluates>()) {
    throw InvalidArgument(
        "landscape.variables",
        fmt::format("{} has {} real variable{}; a landscape lies along two of them", name,
                    reals.empty() ? "no" : fmt::format("{}", reals.size()),
                    reals.size() == 1 ? "" : "s"),
        "a function, formula or density of two or more real variables",
        "for example kiln analyze function:branin --landscape");
  }
}

void require_resolution(std::int64_t resolution) {
  if (resolution >= SliceOptions::min_resolution && resolution <= SliceOptions::max_resolution) {
    return;
  }
  throw InvalidArgument("cli.range",
                        fmt::format("--resolution={} is outside {} .. {}", resolution,
                                    SliceOptions::min_resolution, SliceOptions::max_resolution),
                        {}, "for example --resolution 256");
}

const RealVariable& variable_named(const std::vector<RealVariable>& reals,
                                   const std::string& name) {
  const auto found = std::ranges::find(reals, name, &RealVariable::name);
  if (found != reals.end()) return *found;
  std::vector<std::string> names;
  for (const RealVariable& real : reals) names.push_back(real.name);
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i) {
    list += (i == 0 ? "" : ", ") + clean(names[i]);
  }
  if (names.size() > 8) list += ", ...";
  throw InvalidArgument(
      "landscape.axis",
      fmt::format("no real variable is named '{}'{}", clean(name), nearest_hint(name, names)),
      list);
}

std::pair<RealVariable, RealVariable> axes_of(const std::vector<RealVariable>& reals,
                                              const std::vector<std::string>& names) {
  if (names.empty()) return {reals[0], reals[1]};
  if (names.size() != 2 || names[0] == names[1]) {
    throw InvalidArgument(
        "landscape.axis", "a landscape lies along two different variables", {},
        fmt::format("--axes '{},{}'", clean(reals[0].name), clean(reals[1].name)));
  }
  return {variable_named(reals, names[0]), variable_named(reals, names[1])};
}

double& coordinate(State& state, const RealVariable& variable) {
  return std::get<std::vector<double>>(state[variable.block])[variable.place];
}

State center_of(const Space& space) {
  std::vector<double> values;
  for (const Block& block : space.blocks()) {
    for (std::int64_t i = 0; i < block.count; ++i) {
      const auto [low, high] = block.bounds(i);
      const bool below = std::isfinite(low), above = std::isfinite(high);
      if (block.kind == BlockKind::permutation) {
        values.push_back(static_cast<double>(i));
      } else if (block.kind == BlockKind::real) {
        values.push_back(below && above ? low / 2 + high / 2 : below ? low : above ? high : 0);
      } else {
        values.push_back(low);
      }
    }
  }
  return canonical_state(space, values);
}

State best_of_anneal(const Problem& problem, const Registry& registry, const Engine& engine,
                     Slice& slice) {
  RunOptions options = engine.options();
  options.replicas = anneal_replicas;
  Engine annealer(options, engine.backend());
  const std::unique_ptr<Schedule> schedule = registry.schedule("simulated-annealing").make({});
  Result result = annealer.run(problem, *schedule, {.sweeps = anneal_sweeps});
  const auto beta = result.parameters.find("beta_min");
  if (beta != result.parameters.end()) {
    slice.default_beta = number_in(beta->second).value_or(0);
  }
  return std::move(result.solution);
}

// The point whose values the other variables have.
void find_point(const Problem& problem, const std::string& at, const Registry& registry,
                const Engine& engine, Slice& slice) {
  if (at == "center") {
    slice.through_text = "the centre of the box";
    slice.through = center_of(problem.objective->space());
    return;
  }
  if (at == "best") {
    slice.through_text = "the best point of a short anneal";
    slice.through = best_of_anneal(problem, registry, engine, slice);
    return;
  }
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(at, ignored);
  const std::string file = is_folder ? (std::filesystem::path(at) / "solution.txt").string() : at;
  slice.through_text = "the solution in " + clean(file);
  const std::vector<State> states = read_initial_states(file, problem);
  if (states.size() != 1) {
    throw InputError(
        "input.value", fmt::format("{} has the values of {} points", clean(file), states.size()),
        "a value for each variable of the problem", "the file or the run of the same problem");
  }
  slice.through = states.front();
}

SliceAxis axis_of(const RealVariable& variable, double here, const SliceOptions& options) {
  const Bounds bounds = variable.bounds;
  SliceAxis axis{variable.name, variable.number, bounds.lower, bounds.upper};
  if (!std::isfinite(axis.low)) axis.low = here - reach_without_bound;
  if (!std::isfinite(axis.high)) axis.high = here + reach_without_bound;
  for (const NamedInterval& interval : options.box) {
    if (interval.name != variable.name) continue;
    axis.low = interval.low;
    axis.high = interval.high;
    if (interval.low >= bounds.lower && interval.high <= bounds.upper) continue;
    throw InvalidArgument("landscape.box",
                          fmt::format("--box {}={:g}:{:g} is outside of the bounds of the problem",
                                      clean(interval.name), interval.low, interval.high),
                          fmt::format("{:g} .. {:g}", bounds.lower, bounds.upper));
  }
  return axis;
}

bool is_feasible(const Problem& problem, const State& state) {
  if (!problem.solution.constraint_values) return true;
  const std::vector<double> constraints = problem.solution.constraint_values(spans_of(state));
  return std::ranges::all_of(constraints, [](double value) { return value <= 0; });
}

// Whatever has no number, or is not feasible, becomes NaN.
void evaluate(const Problem& problem, const RealVariable& x, const RealVariable& y, Queue& queue,
              Slice& slice) {
  const Objective& objective = *problem.objective;
  const std::int64_t points = std::int64_t{slice.resolution} * slice.resolution;
  const std::int64_t size = std::min(points_of_batch, (points + 31) / 32 * 32);
  ReplicaBatch batch(queue, objective.space(), objective.execution().layouts,
                     {.replicas = size, .groups = 1, .seed = 1});
  const std::unique_ptr<BoundObjective> bound = objective.bind(queue);
  bound->prepare(batch, queue);
  const DeviceArray<RunControl> control(queue, std::vector<RunControl>{{}});
  std::vector<State> states(static_cast<std::size_t>(size), slice.through);
  slice.value.assign(static_cast<std::size_t>(points), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t begin = 0; begin < points; begin += size) {
    const std::int64_t count = std::min(size, points - begin);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto pixel = static_cast<std::int32_t>(begin + i);
      coordinate(states[static_cast<std::size_t>(i)], x) = slice.x_of(pixel);
      coordinate(states[static_cast<std::size_t>(i)], y) = slice.y_of(pixel);
    }
    batch.write_states(states);
    bound->as<Evaluates>()->evaluate({batch, batch.energy(), {}, control.data()}, queue);
    const std::vector<double> energies = batch.read_energies(false);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool finite = std::isfinite(energies[at]);
      const bool feasible = finite && is_feasible(problem, states[at]);
      slice.not_finite += finite ? 0 : 1;
      slice.infeasible += finite && !feasible ? 1 : 0;
      if (feasible) slice.value[static_cast<std::size_t>(begin) + at] = energies[at];
    }
  }
}

}  // namespace

std::vector<std::string> axes_in(const std::string& text) {
  std::vector<std::string> names(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  if (names.size() == 2) return names;
  throw InvalidArgument("landscape.axis",
                        fmt::format("--axes '{}' does not name two variables", clean(text)),
                        "two names with a comma between them", "for example --axes 'x[1],x[2]'");
}

NamedInterval interval_in(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::size_t colon = equals == std::string::npos ? equals : text.find(':', equals);
  if (equals != std::string::npos && equals > 0 && colon != std::string::npos) {
    const auto low = number_in(text.substr(equals + 1, colon - equals - 1));
    const auto high = number_in(text.substr(colon + 1));
    if (low && high && std::isfinite(*high - *low) && *low < *high) {
      return {text.substr(0, equals), *low, *high};
    }
  }
  throw InvalidArgument("landscape.box", fmt::format("--box '{}' is no interval", clean(text)),
                        "NAME=LOW:HIGH with two numbers, the lower one first",
                        "for example --box x=-5:5");
}

Slice take_slice(const Problem& problem, const SliceOptions& options, const Registry& registry,
                 Engine& engine) {
  const std::vector<RealVariable> reals = real_variables(problem);
  require_resolution(options.resolution);
  require_sliceable(problem, reals, options);
  const auto [x, y] = axes_of(reals, options.axes);
  for (const NamedInterval& interval : options.box) {
    if (interval.name == x.name || interval.name == y.name) continue;
    throw InvalidArgument(
        "landscape.box",
        fmt::format("--box is of '{}', which is no axis of the landscape", clean(interval.name)),
        clean(x.name) + " or " + clean(y.name));
  }
  Slice slice;
  slice.problem = problem.identity.name;
  slice.value_name = problem.units.value_name;
  slice.units = problem.units;
  slice.resolution = static_cast<std::int32_t>(options.resolution);
  slice.variables = problem.objective->space().variables();
  find_point(problem, options.at, registry, engine, slice);
  slice.x = axis_of(x, coordinate(slice.through, x), options);
  slice.y = axis_of(y, coordinate(slice.through, y), options);
  const std::unique_ptr<Queue> queue = engine.backend().backend->make_queue();
  slice.device = engine.backend().backend->constants().name;
  evaluate(problem, x, y, *queue, slice);
  const auto has_value = [](double value) { return !std::isnan(value); };
  if (std::ranges::any_of(slice.value, has_value)) return slice;
  throw ObjectiveError("landscape.empty",
                       fmt::format("no point of the slice of {} has a value: {} are not finite, {} "
                                   "are not feasible",
                                   clean(slice.problem), slice.not_finite, slice.infeasible),
                       {}, "another --box or another point, by --at");
}

}  // namespace kiln::cli
