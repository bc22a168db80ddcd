// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Models with fixed variables, against all states of the whole model.
#include "kiln/problems/fixed_variables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::fixed_variables_test {
namespace {

using Bytes = std::vector<std::int8_t>;

double value_of(const Qubo& qubo, const Bytes& x) {
  double value = qubo.offset;
  for (std::size_t i = 0; i < x.size(); ++i) value += qubo.linear[i] * x[i];
  for (const auto& [i, j, b] : qubo.quadratic) {
    value += b * x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(j)];
  }
  return value;
}

double value_of(const Ising& ising, const Bytes& s) {
  double value = ising.offset;
  for (std::size_t i = 0; i < s.size(); ++i) value += ising.fields[i] * s[i];
  for (const auto& [i, j, w] : ising.couplings) {
    value += w * s[static_cast<std::size_t>(i)] * s[static_cast<std::size_t>(j)];
  }
  return value;
}

double value_of(const Graph& graph, const Bytes& sides) {
  double cut = 0;
  for (const auto& [u, v, w] : graph.edges) {
    cut += sides[static_cast<std::size_t>(u)] != sides[static_cast<std::size_t>(v)] ? w : 0;
  }
  return cut;
}

/// State number `bits` of n variables.
Bytes state_of(std::uint32_t bits, std::int32_t n, std::int8_t low) {
  Bytes state;
  for (std::int32_t i = 0; i < n; ++i)
    state.push_back((bits >> i & 1U) != 0 ? std::int8_t{1} : low);
  return state;
}

bool keeps(const Bytes& state, const std::vector<FixedVariable>& fixed) {
  return std::ranges::all_of(fixed, [&](const FixedVariable& one) {
    return state[static_cast<std::size_t>(one.variable)] == one.value;
  });
}

template <class Pair>
std::vector<Pair> random_pairs(std::int32_t n, std::mt19937& random) {
  std::uniform_int_distribution<int> weight(-9, 9);
  std::vector<Pair> pairs;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = i + 1; j < n; ++j) {
      if (random() % 3 != 0) pairs.push_back({i, j, static_cast<double>(weight(random))});
    }
  }
  return pairs;
}

std::vector<double> random_reals(std::int32_t n, std::mt19937& random) {
  std::vector<double> reals;
  for (std::int32_t i = 0; i < n; ++i) reals.push_back(static_cast<double>(random() % 19) - 9);
  return reals;
}

/// Each state of the reduced model has the value of the whole state.
template <class Model>
void expect_equal_values(const Model& model, const std::vector<FixedVariable>& fixed,
                         std::int8_t low) {
  const Model left = problems::fix_variables(model, fixed);
  ASSERT_EQ(left.n, model.n - static_cast<std::int32_t>(fixed.size()));
  std::uint32_t seen = 0;
  for (std::uint32_t bits = 0; bits < 1U << model.n; ++bits) {
    const Bytes whole = state_of(bits, model.n, low);
    if (!keeps(whole, fixed)) continue;
    Bytes part;
    for (std::int32_t i = 0; i < model.n; ++i) {
      const bool is_fixed =
          std::ranges::any_of(fixed, [&](const FixedVariable& one) { return one.variable == i; });
      if (!is_fixed) part.push_back(whole[static_cast<std::size_t>(i)]);
    }
    ++seen;
    ASSERT_EQ(value_of(left, part), value_of(model, whole));
  }
  EXPECT_EQ(seen, 1U << left.n);
}

TEST(FixedVariables, OfAQuboLeaveEqualValues) {
  std::mt19937 random(5);
  for (std::int32_t n = 1; n <= 10; ++n) {
    const Qubo qubo{n, random_reals(n, random), random_pairs<QuboTerm>(n, random), 7};
    expect_equal_values(qubo, {}, 0);
    expect_equal_values(qubo, {{n - 1, 1}}, 0);
    if (n > 3) expect_equal_values(qubo, {{2, 1}, {0, 0}, {3, 1}}, 0);
  }
}

TEST(FixedVariables, OfAnIsingModelLeaveEqualValues) {
  std::mt19937 random(6);
  for (std::int32_t n = 1; n <= 10; ++n) {
    const Ising ising{n, random_reals(n, random), random_pairs<Edge>(n, random), -3};
    expect_equal_values(ising, {}, -1);
    expect_equal_values(ising, {{n - 1, -1}}, -1);
    if (n > 3) expect_equal_values(ising, {{2, 1}, {0, -1}, {3, -1}}, -1);
  }
}

/// The best of all states that keep the fixed values.
template <class Model>
double best_of(const Model& model, std::int32_t n, const std::vector<FixedVariable>& fixed,
               std::int8_t low, Sense sense) {
  double best = sense == Sense::maximize ? -1e300 : 1e300;
  for (std::uint32_t bits = 0; bits < 1U << n; ++bits) {
    const Bytes state = state_of(bits, n, low);
    if (!keeps(state, fixed)) continue;
    const double value = value_of(model, state);
    best = sense == Sense::maximize ? std::max(best, value) : std::min(best, value);
  }
  return best;
}

template <class Model>
void expect_best(const Model& model, std::int32_t n, const std::vector<FixedVariable>& fixed,
                 std::int8_t low, Sense sense) {
  const Problem problem = make_pairwise_fixed(model, fixed, sense, "fixed");
  SimulatedAnnealing annealing;
  Engine engine({.device = "cpu", .threads = 1, .replicas = 32});
  const Result result = engine.run(problem, annealing, {.sweeps = 200});
  EXPECT_TRUE(result.verified) << "the whole model gives another value";
  EXPECT_EQ(result.objective, best_of(model, n, fixed, low, sense));
  EXPECT_NE(result.objective, best_of(model, n, {}, low, sense)) << "fixing changes nothing here";
  const std::string text = problem.solution.format(spans_of(result.solution));
  EXPECT_EQ(std::ranges::count(text, '\n'), n) << "all variables are written";
}

TEST(FixedVariables, AreKeptByTheBestStateOfARun) {
  std::mt19937 random(9);
  const std::int32_t n = 10;
  const Qubo qubo{n, random_reals(n, random), random_pairs<QuboTerm>(n, random), 7};
  const Ising ising{n, random_reals(n, random), random_pairs<Edge>(n, random), -3};
  const Graph graph{n, random_pairs<Edge>(n, random)};
  for (const Sense sense : {Sense::minimize, Sense::maximize}) {
    // Against the best state, which is looked for first.
    const auto against = [&](const auto& model, std::int8_t low) {
      std::vector<FixedVariable> fixed;
      for (std::int32_t i = 2; i < 5; ++i) {
        const double up = best_of(model, n, {{i, 1}}, low, sense);
        const bool best_is_up = up == best_of(model, n, {}, low, sense);
        fixed.push_back({i, best_is_up ? low : std::int8_t{1}});
      }
      return fixed;
    };
    expect_best(qubo, n, against(qubo, 0), 0, sense);
    expect_best(ising, n, against(ising, -1), -1, sense);
    // A cut and its complement are equal: two neighbours on sides that no best cut gives them.
    std::vector<FixedVariable> sides{{0, 0}, {1, 0}};
    if (best_of(graph, n, sides, 0, sense) == best_of(graph, n, {}, 0, sense)) sides[1].value = 1;
    expect_best(graph, n, sides, 0, sense);
  }
}

// Sums of fractions that are whole numbers only because they are rounded. Oracle: all states.
TEST(FixedVariables, AreExactOnlyIfTheWholeModelIs) {
  const std::vector<FixedVariable> fixed{{0, 1}};
  const Graph cut{3, {{0, 2, 1e-9}, {1, 2, -1e15}}};
  const Qubo qubo{3, {0, 0, -1e15}, {{0, 2, 1e-9}, {1, 2, 1}}, 0};
  const Ising ising{3, {0, 0, -0x1p53}, {{0, 2, 0.3}, {1, 2, 1}}, 0};
  const Qubo quarters{3, {0, 0, 0.75}, {{0, 2, 0.25}, {1, 2, 1}}, 0};
  for (const PairwiseModel& model :
       {PairwiseModel(cut), PairwiseModel(qubo), PairwiseModel(ising), PairwiseModel(quarters)}) {
    const Problem problem = make_pairwise_fixed(model, fixed, natural_sense(model), "fixed");
    EXPECT_FALSE(problem.units.integral) << model.index();
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SimulatedAnnealing annealing;
      const Result result = Engine({.device = "cpu", .threads = 1, .replicas = 4, .seed = seed})
                                .run(problem, annealing, {.sweeps = 20});
      EXPECT_TRUE(result.verified) << model.index() << " " << seed;
    }
  }
  const Problem whole =
      make_pairwise_fixed(Qubo{3, {1, 2, 3}, {{0, 1, 4}}, 0}, fixed, Sense::minimize, "fixed");
  EXPECT_TRUE(whole.units.integral);
}

// The constant has as many terms as pairs are fixed: more than a row has.
TEST(FixedVariables, LeaveAConstantThatIsRoundedOnce) {
  constexpr std::int32_t n = 400;
  Ising ising{n, {}, {}, 1e12};
  std::vector<FixedVariable> fixed;
  for (std::int32_t i = 0; i + 1 < n; ++i) fixed.push_back({i, 1});
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = i + 1; j + 1 < n; ++j) ising.couplings.push_back({i, j, 0.1});
  }
  const double pairs = 399.0 * 398 / 2;
  EXPECT_EQ(problems::fix_variables(ising, fixed).offset, 1e12 + pairs / 10);
}

TEST(FixedVariables, ReadWholeStates) {
  const Qubo qubo{3, {1, 2, 3}, {{0, 1, 4}}, 0};
  const std::vector<FixedVariable> fixed{{1, 1}};
  const Problem problem = make_pairwise_fixed(qubo, fixed, Sense::minimize, "fixed");
  const std::vector<double> whole{1, 1, 0};
  const State state = problem.solution.parse(whole);
  EXPECT_EQ(std::get<Bytes>(state.front()), (Bytes{1, 0}));
  EXPECT_EQ(problem.solution.verify(spans_of(state)), 7);
  EXPECT_EQ(problem.solution.format(spans_of(state)), "1\n1\n0\n");
  const std::vector<double> other{1, 0, 0};
  try {
    problem.solution.parse(other);
    FAIL() << "a fixed variable has another value";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.message(), "value 2 of 3 in a state is 0, but this variable is fixed");
    EXPECT_EQ(error.expected(), "its fixed value 1");
  }
}

TEST(FixedVariables, ArePartsOfWholeStates) {
  const std::vector<FixedVariable> fixed{{1, 1}};
  const Problem qubo =
      make_pairwise_fixed(Qubo{3, {1, 2, 3}, {{0, 1, 4}}, 0}, fixed, Sense::minimize, "fixed");
  EXPECT_EQ(qubo.solution.whole_variables, 3);
  const State part{Bytes{1, 0}};
  EXPECT_EQ(qubo.solution.whole(spans_of(part)), (State{Bytes{1, 1, 0}}));
  // Sides of a cut are bits of the smaller model, and spins of the whole one.
  const Problem cut =
      make_pairwise_fixed(Graph{3, {{0, 1, 2}, {1, 2, 5}}}, fixed, Sense::maximize, "fixed");
  EXPECT_EQ(cut.solution.whole(spans_of(part)), (State{Bytes{-1, -1, 1}}));
  EXPECT_EQ(cut.solution.format(spans_of(part)), "1\n1\n0\n");
  EXPECT_EQ(cut.solution.verify(spans_of(part)), 5);
  for (const std::vector<double>& whole : {std::vector<double>{1, 1, 0}, {-1, -1, 1}}) {
    EXPECT_EQ(cut.solution.parse(whole), part) << "as sides, and as spins";
  }
  SimulatedAnnealing annealing;
  const Result result =
      Engine({.device = "cpu", .threads = 1, .replicas = 32}).run(cut, annealing, {.sweeps = 50});
  EXPECT_EQ(result.objective, 7);
  EXPECT_EQ(result.solution, (State{Bytes{0, 0}}));
  EXPECT_EQ(result.whole_solution(), (State{Bytes{1, -1, 1}}));
  EXPECT_NE(result.to_json().find("\"solution\":[1,-1,1]"), std::string::npos);
}

TEST(FixedVariables, AreRefusedInStatesOfAnotherForm) {
  const std::vector<FixedVariable> fixed{{1, 1}};
  const Problem qubo =
      make_pairwise_fixed(Qubo{3, {1, 2, 3}, {}, 0}, fixed, Sense::minimize, "fixed");
  const Problem ising =
      make_pairwise_fixed(Ising{3, {1, 2, 3}, {}, 0}, fixed, Sense::minimize, "fixed");
  using Values = std::vector<double>;
  for (const Values& wrong : {Values{1, 1}, {1, 1, 0, 0}, {}, {1, 1, 2}, {0.5, 1, 0}, {-1, 1, 1}}) {
    EXPECT_THROW(qubo.solution.parse(wrong), InvalidArgument);
  }
  EXPECT_EQ(ising.solution.parse(Values{-1, 1, 1}), (State{Bytes{-1, 1}}));
  EXPECT_THROW(ising.solution.parse(Values{0, 1, 1}), InvalidArgument);
}

TEST(FixedVariables, TellProblemsApart) {
  const Qubo qubo{3, {1, 2, 3}, {{0, 1, 4}}, 0};
  const auto fingerprint = [](const Model& model, std::vector<FixedVariable> fixed) {
    return make_fixed(model, fixed, Sense::minimize, "m").identity.fingerprint;
  };
  const std::string one = fingerprint(qubo, {{1, 1}, {2, 0}});
  EXPECT_EQ(one.size(), 16U);
  EXPECT_EQ(one, fingerprint(qubo, {{2, 0}, {1, 1}})) << "the order means nothing";
  EXPECT_NE(one, fingerprint(qubo, {{1, 1}, {2, 1}}));
  EXPECT_NE(one, fingerprint(qubo, {{1, 1}}));
  EXPECT_NE(one, fingerprint(Qubo{3, {1, 2, 4}, {{0, 1, 4}}, 0}, {{1, 1}, {2, 0}}));
  EXPECT_THROW(fingerprint(Potts{}, {}), InvalidArgument);
}

TEST(FixedVariables, AreRefusedWhereTheyAreWrong) {
  const Qubo qubo{2, {1, 2}, {}, 0};
  const auto message = [&](std::vector<FixedVariable> fixed) {
    try {
      make_pairwise_fixed(qubo, fixed, Sense::minimize, "q");
    } catch (const InvalidArgument& error) {
      return error.code() + ": " + error.message();
    }
    return std::string();
  };
  EXPECT_EQ(message({{0, 1}}), "");
  EXPECT_EQ(message({{2, 1}}), "problem.fixed: variable 2 is fixed and does not exist");
  EXPECT_EQ(message({{-1, 1}}), "problem.fixed: variable -1 is fixed and does not exist");
  EXPECT_EQ(message({{0, -1}}), "problem.fixed: variable 0 is fixed at -1");
  EXPECT_EQ(message({{0, 1}, {0, 1}}), "problem.fixed: variable 0 is fixed twice");
  EXPECT_EQ(message({{0, 1}, {1, 0}}), "problem.fixed: q: all variables are fixed");
  EXPECT_THROW(problems::fix_variables(Ising{1, {1}, {}, 0}, std::vector<FixedVariable>{{0, 0}}),
               InvalidArgument);
  EXPECT_THROW(make_pairwise_fixed(Potts{}, {}, Sense::minimize, "p"), InvalidArgument);
}

}  // namespace
}  // namespace kiln::fixed_variables_test
