// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedule of the plug-in in apps/plugins/cross_entropy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "kiln/device/rng_domains.hpp"
#include "kiln/plugins/plugins.hpp"

#include "backends/cpu_queue.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::test::cross_entropy_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The plug-in is loaded once in a process.
const Registry& registry() {
  static const Registry loaded = [] {
    Registry all = builtin_registry();
    load_plugin(std::filesystem::path(KILN_PLUGINS) / "cross_entropy.so", all);
    return all;
  }();
  return loaded;
}

// Before any backend is opened: one that is open has no kernels of a plug-in that is loaded later.
class Loaded : public testing::Environment {
  void SetUp() override { static_cast<void>(registry()); }
};
const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new Loaded);

std::unique_ptr<Schedule> cross_entropy(const Texts& texts) {
  return registry().schedule("cross-entropy").make(texts);
}

struct CrossEntropyTraits {
  static constexpr std::int64_t sweeps = 40;
  static constexpr bool moves = false;
  static ScheduleEntry entry() { return registry().schedule("cross-entropy"); }
  static Problem problem() { return sparse_cut(); }
  static std::vector<Texts> variants() {
    return {{},
            {{"elite", "0.2"}, {"smoothing", "1"}, {"floor", "0.01"}, {"converged", "0.1"}},
            {{"elite", "0.5"}, {"smoothing", "0.05"}}};
  }
  static std::vector<Refused> refused() {
    return {{{{"elite", "0"}, {"smoothing", "1.5"}},
             {"elite: 0 is out of range", "smoothing: 1.5 is out of range"}},
            {{{"floor", "0.3"}, {"populations", "0"}},
             {"floor: 0.3 is out of range", "populations: 0 is out of range"}},
            {{{"patience", "0"}}, {"patience: 0 is out of range"}},
            {{{"floor", "0.1"}, {"converged", "0.05"}}, {"'converged'"}}};
  }
  static std::vector<Unsuitable> unsuitable() {
    const auto sum = [](std::span<const double> x) { return x[0]; };
    return {{problem_of_nothing("mute"), {"mute", "evaluate"}},
            {problem_of_a_gpu("functor"), {"functor", "CPU"}},
            {make_problem(make_host_objective("line", Space::reals(1, 0, 1), sum)),
             {"cross-entropy", "line"}}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(CrossEntropy, ScheduleSuite, CrossEntropyTraits);

// ---- The method, computed a second time

/// What the user asked for, and where variables begin.
struct Method {
  Texts texts;
  double elite, smoothing, floor, converged;
  std::int64_t patience = 50;
  std::int64_t populations = 1;
  std::int64_t reference = -1;
};

std::int8_t value_in(const State& state, std::size_t variable) {
  for (const BlockValues& block : state) {
    const auto& values = std::get<std::vector<std::int8_t>>(block);
    if (variable < values.size()) return values[variable];
    variable -= values.size();
  }
  throw std::out_of_range("variable");
}

/// The rounds of a run in plain loops, from the states and energies that the run begins with.
class Rounds {
 public:
  Rounds(Method method, const Space& space, std::int64_t replicas)
      : method_(std::move(method)), space_(space), size_(replicas / method_.populations) {
    for (std::int64_t p = 0; p < method_.populations; ++p) probability_.push_back(first());
    now_.resize(probability_.size());
  }

  /// The states of the next round, of those of the last one.
  std::vector<State> next(const std::vector<State>& states, const std::vector<double>& energies,
                          DrawIds ids) {
    std::vector<State> drawn(states.size());
    for (std::size_t p = 0; p < probability_.size(); ++p) {
      const std::int64_t begin = static_cast<std::int64_t>(p) * size_;
      move(p, begin, states, energies);
      for (std::int64_t slot = begin; slot < begin + size_; ++slot) {
        drawn[static_cast<std::size_t>(slot)] = draw(probability_[p], slot, ids);
      }
    }
    ++step_;
    return drawn;
  }
  std::int64_t restarts() const { return restarts_; }
  std::int64_t restarts_by_patience() const { return by_patience_; }

 private:
  struct Progress {
    double lowest = infinity;
    std::int64_t stale = 0;
    bool converged = false;
  };
  std::vector<double> first() const {
    std::vector<double> p(static_cast<std::size_t>(space_.variables()), 0.5);
    if (method_.reference >= 0) p[static_cast<std::size_t>(method_.reference)] = method_.floor;
    return p;
  }
  /// The slots of the elite, the best one first.
  std::vector<std::size_t> elite(std::int64_t begin, const std::vector<double>& energies) const {
    std::vector<std::size_t> order(static_cast<std::size_t>(size_));
    std::iota(order.begin(), order.end(), static_cast<std::size_t>(begin));
    std::erase_if(order, [&](std::size_t slot) { return !std::isfinite(energies[slot]); });
    std::ranges::stable_sort(order, {}, [&](std::size_t slot) { return energies[slot]; });
    const double wanted = std::max(1.0, std::round(method_.elite * static_cast<double>(size_)));
    order.resize(std::min(order.size(), static_cast<std::size_t>(wanted)));
    return order;
  }

  void move(std::size_t population, std::int64_t begin, const std::vector<State>& states,
            const std::vector<double>& energies) {
    const std::vector<std::size_t> best = elite(begin, energies);
    Progress& now = now_[population];
    const double highest = best.empty() ? infinity : energies[best.back()];
    now.stale = highest < now.lowest ? 0 : now.stale + 1;
    now.lowest = std::min(now.lowest, highest);
    if (now.converged || now.stale >= method_.patience) {
      by_patience_ += now.converged ? 0 : 1;
      ++restarts_;
      now = {};
      probability_[population] = first();
      return;
    }
    now.converged = true;
    for (std::size_t v = 0; v < probability_[population].size(); ++v) {
      double ones = 0;
      for (const std::size_t slot : best) ones += is_one(states[slot], v) ? 1 : 0;
      double& p = probability_[population][v];
      if (!best.empty()) {
        p = (1 - method_.smoothing) * p +
            method_.smoothing * (ones / static_cast<double>(best.size()));
        p = std::clamp(p, method_.floor, 1 - method_.floor);
      }
      if (std::min(p, 1 - p) > method_.converged) now.converged = false;
    }
  }

  bool is_one(const State& state, std::size_t v) const {
    const bool own = is_bit(value_in(state, v));
    if (method_.reference < 0) return own;
    return own != is_bit(value_in(state, static_cast<std::size_t>(method_.reference)));
  }
  // Spin -1 or bit 1. Spins are never 0, and the bits of a space without spins never -1.
  bool is_bit(std::int8_t value) const {
    return space_.blocks().front().kind == BlockKind::spin ? value == -1 : value == 1;
  }

  State draw(const std::vector<double>& probability, std::int64_t slot, DrawIds ids) const {
    State state;
    std::size_t first = 0;
    for (std::size_t b = 0; b < space_.blocks().size(); ++b) {
      const DrawName name{ids.key[slot], step_, ids.replica[slot], RngDomain::user,
                          static_cast<std::uint8_t>(b)};
      const bool spins = space_.blocks()[b].kind == BlockKind::spin;
      std::vector<std::int8_t> values;
      for (std::int64_t v = 0; v < space_.blocks()[b].count; ++v) {
        const double p = probability[first++];
        const bool bit =
            draw_word(name, static_cast<std::uint32_t>(v)) < std::floor(std::ldexp(p, 32));
        values.push_back(static_cast<std::int8_t>(spins ? (bit ? -1 : 1) : (bit ? 1 : 0)));
      }
      state.emplace_back(std::move(values));
    }
    return state;
  }

  Method method_;
  Space space_;
  std::int64_t size_;
  std::uint64_t step_ = 0;
  std::vector<std::vector<double>> probability_;
  std::vector<Progress> now_;
  std::int64_t restarts_ = 0, by_patience_ = 0;
};

std::vector<std::int64_t> numbers_to(std::int64_t n) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Runs round by round and compares the states of all replicas.
Rounds expect_the_method(const Problem& problem, const Method& method, std::int64_t rounds) {
  constexpr std::int64_t replicas = 192;
  const std::vector<std::int64_t> slots = numbers_to(replicas);
  const auto schedule = cross_entropy(method.texts);
  kiln::Run run(problem, *schedule, {.sweeps = rounds}, options(replicas, 9),
                open_backend("cpu", 1));
  Rounds expected(method, problem.objective->space(), replicas);
  Result result;
  for (std::int64_t round = 1; round <= rounds; ++round) {
    std::vector<double> energies = run.batch().read_energies(false);
    energies.resize(replicas);
    const std::vector<State> next =
        expected.next(run.batch().read_states(slots, false), energies, run.batch().draw_ids());
    result = run.advance_to({.sweeps = round});
    if (run.batch().read_states(slots, false) != next) {
      ADD_FAILURE() << problem.identity.name << ": the states of round " << round << " differ";
      break;
    }
  }
  EXPECT_EQ(result.diagnostics.at("restarts"), static_cast<double>(expected.restarts()));
  return expected;
}

/// A graph whose vertex `hub` has more edges than any other.
Problem cut_with_a_hub(std::int32_t hub) {
  Graph graph = random_graph(24, 3, 3);
  std::erase_if(graph.edges, [&](const auto& edge) { return edge.u == hub || edge.v == hub; });
  for (std::int32_t v = 0; v < graph.n_vertices; ++v) {
    if (v != hub) graph.edges.push_back({std::min(v, hub), std::max(v, hub), 1});
  }
  return make_maxcut(graph, "hub");
}

/// Bits of two blocks, of which the energy of every eighth state is no number.
Problem two_blocks() {
  const Space space({{BlockKind::binary, 5, 0, 1}, {BlockKind::binary, 6, 0, 1}});
  return make_problem(make_host_objective("blocks", space, [](StateSpan state) {
    double sum = 0, sign = 1;
    for (const BlockSpan& block : state) {
      for (const std::int8_t value : std::get<std::span<const std::int8_t>>(block)) {
        sum += sign * value;
        sign = -1.5 * sign;
      }
    }
    const auto first = std::get<std::span<const std::int8_t>>(state.front());
    const bool is_none = first[0] == 1 && first[1] == 1 && first[2] == 1;
    return is_none ? std::numeric_limits<double>::quiet_NaN() : std::cos(sum);
  }));
}

const Method usual{
    {{"elite", "0.1"}, {"smoothing", "0.6"}, {"floor", "0.004"}, {"converged", "0.05"}},
    0.1,
    0.6,
    0.004,
    0.05};

TEST(CrossEntropy, MakesTheRoundsOfTheMethod) {
  Method three = usual;
  three.populations = 3;
  three.texts["populations"] = "3";
  Method with_hub = three;
  with_hub.reference = 11;
  const Problem spins = make_ising(random_ising(20, 4, 3));
  for (const Rounds& made : {expect_the_method(spins, usual, 40),
                             expect_the_method(make_ising(random_ising(20, 4, 3, 0.37)), three, 40),
                             expect_the_method(cut_with_a_hub(11), with_hub, 60),
                             expect_the_method(two_blocks(), three, 60)}) {
    EXPECT_GT(made.restarts(), made.restarts_by_patience());
  }
  Method impatient = usual;
  impatient.patience = 2;
  impatient.texts["patience"] = "2";
  EXPECT_GT(expect_the_method(spins, impatient, 40).restarts_by_patience(), 0);
}

// A population has the draws that it would have alone, under its own key.
TEST(CrossEntropy, TheFirstOfSeveralPopulationsIsThatOfARunAlone) {
  const Problem problem = sparse_cut();
  const auto alone = cross_entropy({}), beside = cross_entropy({{"populations", "4"}});
  kiln::Run one(problem, *alone, {.sweeps = 30}, options(64), open_backend("cpu", 1));
  kiln::Run four(problem, *beside, {.sweeps = 30}, options(256), open_backend("cpu", 1));
  one.advance();
  four.advance();
  const std::vector<std::int64_t> slots = numbers_to(64);
  EXPECT_EQ(one.batch().read_states(slots, false), four.batch().read_states(slots, false));
  std::vector<std::int64_t> second = slots;
  for (std::int64_t& slot : second) slot += 64;
  EXPECT_NE(one.batch().read_states(slots, false), four.batch().read_states(second, false));
}

TEST(CrossEntropy, BeginsWithTheStatesThatAreGiven) {
  const Problem problem = make_ising(random_ising(20, 4, 3));
  RunOptions given = options(64);
  std::vector<std::int8_t> spins;
  for (std::int32_t i = 0; i < 20; ++i) spins.push_back(i % 3 == 0 ? -1 : 1);
  given.initial_states = {{spins}};
  const auto schedule =
      cross_entropy({{"smoothing", "1"}, {"floor", "1e-9"}, {"converged", "0.01"}});
  kiln::Run run(problem, *schedule, {.sweeps = 1}, given, open_backend("cpu", 1));
  run.advance();
  for (const State& state : run.batch().read_states(numbers_to(64), false)) {
    EXPECT_EQ(state, given.initial_states.front());
  }
}

TEST(CrossEntropy, RefusesPopulationsThatShareWords) {
  const auto schedule = cross_entropy({{"populations", "2"}});
  const std::string refused =
      complaint([&] { Engine(options(80)).run(sparse_cut(), *schedule, {.sweeps = 1}); });
  EXPECT_EQ(refused,
            "cross_entropy.population: each of several populations has a multiple of 32 replicas, "
            "not 40");
}

// ---- Optima by enumeration

/// sum_i f_i x_i + sum_{i<j} c_ij x_i x_j, which an Ising model and a QUBO of these numbers share.
double quadratic_value(const Ising& model, const std::vector<std::int8_t>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += model.fields[i] * x[i];
  for (const Edge& one : model.couplings) {
    sum += one.weight * x[static_cast<std::size_t>(one.u)] * x[static_cast<std::size_t>(one.v)];
  }
  return sum;
}

double cut_value(const Graph& graph, const std::vector<std::int8_t>& side) {
  double sum = 0;
  for (const Edge& one : graph.edges) {
    const bool is_cut =
        side[static_cast<std::size_t>(one.u)] != side[static_cast<std::size_t>(one.v)];
    sum += is_cut ? one.weight : 0;
  }
  return sum;
}

template <class Model, class Value>
double lowest(const Model& model, bool spins, Value value) {
  double best = infinity;
  static const std::vector<State> bits = all_states(16, false), of_spins = all_states(16, true);
  for (const State& state : spins ? of_spins : bits) {
    best = std::min(best, value(model, values_of(state)));
  }
  return best;
}

double found(const Problem& problem, std::uint64_t seed) {
  const auto schedule = cross_entropy({{"elite", "0.1"}, {"patience", "10"}});
  const Result result = Engine(options(64, seed)).run(problem, *schedule, {.sweeps = 100});
  EXPECT_TRUE(result.verified);
  return result.objective;
}

// A run draws 6400 states of 65536.
TEST(CrossEntropy, FindsTheOptimaOfSmallModels) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const Ising model = random_ising(16, 8, 4, 1, seed);
    const Graph graph = random_graph(16, 8, 4, 1, seed);
    Qubo qubo{model.n, model.fields, {}};
    for (const Edge& one : model.couplings) qubo.quadratic.push_back({one.u, one.v, one.weight});
    const auto minus_cut = [](const Graph& g, const auto& side) { return -cut_value(g, side); };
    EXPECT_EQ(found(make_ising(model), seed), lowest(model, true, quadratic_value));
    EXPECT_EQ(found(make_qubo(qubo), seed), lowest(model, false, quadratic_value));
    EXPECT_EQ(found(make_maxcut(graph), seed), -lowest(graph, true, minus_cut));
  }
}

}  // namespace
}  // namespace kiln::test::cross_entropy_test
