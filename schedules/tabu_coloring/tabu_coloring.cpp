// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/tabu_coloring.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/observer.hpp"
#include "kiln/run_context.hpp"

namespace kiln {
namespace {

// Moves of one launch. On the CPU a launch can be given up between those of two replicas, so that
// the moves of one must not take long: a move looks at up to all pairs of a vertex and a colour.
constexpr std::uint32_t max_moves = 4096;
constexpr std::int64_t max_pairs_on_cpu = std::int64_t{1} << 25;

std::uint32_t moves_of_launch(const ColoringTabu& kernel, bool on_cpu) {
  const std::int64_t pairs = std::int64_t{kernel.model.vertices} * kernel.model.values;
  if (!on_cpu || pairs <= 0) return max_moves;
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(max_pairs_on_cpu / pairs, 1, max_moves));
}

const ColoringModelled* coloring_of(const Problem& problem) {
  return problem.objective->as<ColoringModelled>();
}

std::string plural(double number, const char* one, const char* many) {
  return detail::show_real(number) + " " + (number == 1 ? one : many);
}

}  // namespace

const OptionTable<TabuColoringOptions>& TabuColoringOptions::table() {
  using O = TabuColoringOptions;
  static const auto table =
      OptionTable<O>()
          .integer("tenure", &O::tenure, {0, 1'000'000}, "moves",
                   "Upper bound of the random part of the tabu tenure.",
                   "The tabu tenure is the number of moves for which a vertex must not take its "
                   "old colour again. A move to fewer conflicts than ever before ignores the "
                   "tenure. The random part is uniform and less than this bound.")
          .real("tenure_share", &O::tenure_share, {0, 1000}, "moves/vertex",
                "Tabu tenure that each vertex with a conflict adds.",
                "Kiln rounds tenure_share to a thousandth.");
  return table;
}

TabuColoring::TabuColoring(TabuColoringOptions options)
    : ScheduleOf(TabuColoringOptions::table().checked(options)) {}

TabuColoring::~TabuColoring() = default;

Needs TabuColoring::needs(const Problem& problem, const Budget&) {
  if (coloring_of(problem) == nullptr) {
    const bool turned =
        problem.identity.family == "coloring" && problem.units.sense == Sense::maximize;
    const Fix other = "--schedule simulated-annealing";
    throw InvalidArgument(
        "schedule.objective",
        "schedule 'tabu-coloring' does not support objective '" + problem.objective->name() + "'",
        turned ? "tabu-coloring minimises conflicts, and this run maximises them"
               : "tabu-coloring needs a graph to colour",
        turned ? Fix::keep_sense("maximize").or_else(other) : other);
  }
  Needs needs;
  needs.own_states = true;
  return needs;
}

// The tables of a search grow with the colours.
WorkShape TabuColoring::own_work(const Problem& problem) const {
  const ColoringModel& model = coloring_of(problem)->coloring_model();
  return {.unit = WorkUnit::search,
          .variables = model.vertices,
          .table_bytes = 8.0 * static_cast<double>(model.vertices) * model.values};
}

namespace {

ColorStates states_of(const StateBlock& block) {
  if (block.layout == Layout::i8) {
    return {.bytes = {block.as<std::int8_t>(), block.variables, block.slots, block.slots}};
  }
  return {.words = {block.as<std::int32_t>(), block.variables, block.slots, block.slots}};
}

std::int32_t max_neighbors(const ColoringModel& model) {
  std::int64_t most = 0;
  for (std::size_t v = 0; v + 1 < model.row_begin.size(); ++v) {
    most = std::max(most, model.row_begin[v + 1] - model.row_begin[v]);
  }
  return static_cast<std::int32_t>(most);
}

}  // namespace

void TabuColoring::allocate(AllocateContext& run) {
  const ColoringModel& model = coloring_of(run.problem())->coloring_model();
  const std::int64_t replicas = run.batch().replicas(), n = model.vertices;
  ColoringTabu& kernel = kernel_ = {};
  kernel.model.vertices = model.vertices;
  kernel.model.values = model.values;
  kernel.model.fewest = model.fewest;
  lower_bound_ = model.lower_bound;
  kernel.model.row_begin = run.scratch("row_begin", model.row_begin);
  kernel.model.neighbor = run.scratch("neighbor", model.neighbor);
  kernel.model.max_neighbors = max_neighbors(model);
  kernel.state = states_of(run.batch().state(0));
  kernel.energy = run.batch().energy();
  kernel.accepted = run.batch().accepted();
  kernel.walk = run.scratch_zeros<ColoringWalk>("walk", replicas);
  kernel.color = run.scratch_zeros<std::int32_t>("color", replicas * n);
  kernel.adjacent = run.scratch_zeros<std::int32_t>("adjacent", replicas * n * model.values);
  kernel.tabu = run.scratch_zeros<std::uint32_t>("tabu", replicas * n * model.values);
  kernel.conflicts =
      run.scratch_zeros<std::uint64_t>("conflicts", replicas * ColoringTabu::words_of(n));
  run.require_saved_equal("row_begin", model.row_begin);
  run.require_saved_equal("neighbor", model.neighbor);
  run.require_saved<ColoringWalk>("walk", [values = model.values](const auto& saved) {
    return std::ranges::all_of(saved, [values](const ColoringWalk& one) {
      return one.colors >= 0 && one.colors <= values && one.conflicts >= 0;
    });
  });
  run.require_saved_between<std::int32_t>("color", 0, model.values - 1);
  run.require_saved_between<std::int32_t>("adjacent", 0, kernel.model.max_neighbors);
  kernel.draw_ids = run.batch().draw_ids();
  kernel.control = run.control();
  kernel.tenure = static_cast<std::uint32_t>(options_.tenure);
  kernel.tenure_share = static_cast<std::uint32_t>(std::lround(options_.tenure_share * 1000));
}

// A given state that has conflicts is worth less than the greedy colouring, which has none.
void TabuColoring::initialize(InitializeContext& run) {
  const ColoringModel& model = coloring_of(run.problem())->coloring_model();
  const auto evaluated = [&] {
    run.evaluate(run.batch().energy(), {});
    return run.batch().read_energies(false);
  };
  if (run.given_states() > 0) {
    std::vector<double> energies = evaluated();
    energies.resize(static_cast<std::size_t>(run.batch().replicas()));
    if (!model.fewest || *std::ranges::min_element(energies) <= model.values) return;
  }
  run.batch().write_states({State{model.first}});
  evaluated();
}

void TabuColoring::enqueue(TickContext& run) {
  const auto n = static_cast<std::uint32_t>(kernel_.model.vertices);
  const std::uint32_t each = moves_of_launch(kernel_, run.queue().on_cpu());
  for (std::uint32_t done = 0; done < n; done += each) {
    kernel_.first_move = done;
    kernel_.moves = std::min(each, n - done);
    kernel_.last = done + kernel_.moves == n;
    run.queue().launch(kernel_);
  }
  run.finish_tick();
}

void TabuColoring::annotate(ReportPoint& point) const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const double n = kernel_.model.vertices;
  double tried = kernel_.model.values, conflicts = point.mean;
  if (kernel_.model.fewest) {
    // All try one colour less than the best. Energies are vertices + conflicts but of a replica
    // that has just found a colouring.
    const bool goes_on = point.has_best && point.best > lower_bound_;
    tried = goes_on ? point.best - 1 : unknown;
    conflicts = goes_on && !point.improved && point.mean > n ? point.mean - n : unknown;
  }
  point.notes.emplace_back("tried", tried);
  point.notes.emplace_back("conflicts", conflicts);
}

void TabuColoring::report(ReportContext& run, Result& result) {
  const ColoringModel& model = coloring_of(run.problem())->coloring_model();
  if (!model.fewest) return;
  const double fewest = result.objective, bound = model.lower_bound;
  double tried = fewest, left = 0;
  for (const ColoringWalk& walk : run.read(kernel_.walk)) {
    if (walk.colors == 0 || walk.colors > tried || walk.colors >= fewest) continue;
    const auto here = static_cast<double>(walk.fewest_conflicts);
    left = walk.colors < tried ? here : std::min(left, here);
    tried = walk.colors;
  }
  result.diagnostics["lower_bound"] = bound;
  result.diagnostics["greedy"] = 1 + *std::ranges::max_element(model.first);
  result.diagnostics["colors_tried"] = tried;
  result.diagnostics["conflicts_left"] = left;
  const std::string clique = plural(bound, "vertex", "vertices");
  if (fewest <= bound) {
    const std::string why =
        bound == 1 ? "a graph needs a colour" : clique + " of the graph are pairwise adjacent";
    result.advice.push_back("fewer colours are impossible: " + why);
    return;
  }
  // Of fewer colours than were asked for the run says nothing.
  if (result.stop != Stop::target_reached) {
    std::string text =
        "the run found no colouring with fewer colours, but such a colouring may exist";
    if (tried < fewest) {
      text += "; the best state with " + detail::show_real(tried) + " colours has " +
              plural(left, "conflict", "conflicts");
    }
    result.advice.push_back(std::move(text));
  }
  result.advice.push_back("a clique of " + clique + " shows that fewer than " +
                          detail::show_real(bound) + " colours are impossible");
}

}  // namespace kiln
