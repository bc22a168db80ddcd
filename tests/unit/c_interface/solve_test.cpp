// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The answers of the C interface, against the best of all states of small models.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kiln/kiln.h"

namespace kiln::c_interface_test {
namespace {

/// The arrays of a model.
struct Terms {
  std::int32_t form = KILN_QUBO, n = 0;
  std::vector<std::int32_t> rows, columns;
  std::vector<double> values;
  double offset = 0;

  kiln_model model() const {
    kiln_model model = kiln_empty_model();
    model.form = form;
    model.n = n;
    model.count = static_cast<std::int64_t>(rows.size());
    model.rows = rows.data();
    model.columns = columns.data();
    model.values = values.data();
    model.offset = offset;
    return model;
  }
};

/// How the terms may be read: rightly, or as plausible mistakes read them.
struct Reading {
  double pair_factor = 1, offset_factor = 1;
  bool last_counts = false;  ///< of two terms of a pair, instead of their sum
};

double value_of(const Terms& terms, const std::vector<std::int8_t>& x, const Reading& reading) {
  double value = reading.offset_factor * terms.offset;
  for (std::size_t k = 0; k < terms.rows.size(); ++k) {
    const std::int32_t i = terms.rows[k], j = terms.columns[k];
    bool hidden = false;
    for (std::size_t later = k + 1; later < terms.rows.size() && reading.last_counts; ++later) {
      const std::int32_t a = terms.rows[later], b = terms.columns[later];
      hidden = hidden || (a == i && b == j) || (a == j && b == i);
    }
    if (hidden) continue;
    const int a = x[static_cast<std::size_t>(i)], b = x[static_cast<std::size_t>(j)];
    const double factor = i == j ? 1 : reading.pair_factor;
    const int product = terms.form == KILN_MAX_CUT ? (a != b ? 1 : 0) : i == j ? a : a * b;
    value += factor * terms.values[k] * product;
  }
  return value;
}

/// The best value of all states.
double best_of_all(const Terms& terms, bool maximize, const Reading& reading = {}) {
  double best = maximize ? -1e300 : 1e300;
  for (std::uint32_t bits = 0; bits < 1U << terms.n; ++bits) {
    std::vector<std::int8_t> x;
    for (std::int32_t i = 0; i < terms.n; ++i) {
      const bool one = (bits >> i & 1U) != 0;
      x.push_back(static_cast<std::int8_t>(terms.form == KILN_ISING ? (one ? 1 : -1) : one));
    }
    const double value = value_of(terms, x, reading);
    best = maximize ? std::max(best, value) : std::min(best, value);
  }
  return best;
}

/// Random terms: linear ones, and pairs of both orders, many of them more than once.
Terms random_terms(std::int32_t form, std::int32_t n, bool integers, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int32_t> variable(0, n - 1), weight(-9, 9);
  Terms terms{form, n, {}, {}, {}, form == KILN_MAX_CUT ? 0.0 : integers ? 41.0 : 41.375};
  while (terms.rows.size() < static_cast<std::size_t>(3 * n)) {
    const std::int32_t i = variable(random), j = variable(random);
    if (form == KILN_MAX_CUT && i == j) continue;
    const double value = weight(random) + (integers ? 0.0 : weight(random) / 16.0);
    for (int twice = 0; twice < 2; ++twice) {  // a pair as (i, j) and as (j, i), with other values
      terms.rows.push_back(twice == 0 ? i : j);
      terms.columns.push_back(twice == 0 ? j : i);
      terms.values.push_back(value + twice);
    }
  }
  return terms;
}

class Solver {
 public:
  Solver() {
    char error[256];
    EXPECT_EQ(kiln_open("cpu", 1, &solver_, error, sizeof error), KILN_OK) << error;
  }
  ~Solver() { kiln_close(solver_); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  operator kiln_solver*() const { return solver_; }  // NOLINT(google-explicit-constructor)

 private:
  kiln_solver* solver_ = nullptr;
};

struct Answer {
  double value = 0;
  std::vector<std::int8_t> state;
};

Answer solve(kiln_solver* solver, const Terms& terms, std::int32_t sense) {
  kiln_options options = kiln_default_options();
  options.replicas = 64;
  options.sweeps = 200;
  options.sense = sense;
  const kiln_model model = terms.model();
  kiln_result result = kiln_empty_result();
  Answer answer;
  answer.state.resize(static_cast<std::size_t>(terms.n), 77);
  char error[256];
  EXPECT_EQ(kiln_solve(solver, &model, &options, &result, answer.state.data(), error, sizeof error),
            KILN_OK)
      << error;
  EXPECT_EQ(result.stop, KILN_SWEEP_LIMIT);
  EXPECT_EQ(result.sweeps, 200);
  EXPECT_EQ(result.replicas, 64);
  EXPECT_GE(result.run_s, result.to_best_s);
  answer.value = result.value;
  return answer;
}

TEST(CInterface, FindsTheBestOfAllStates) {
  const Solver solver;
  for (const std::int32_t form : {KILN_QUBO, KILN_ISING, KILN_MAX_CUT}) {
    for (std::uint32_t seed = 0; seed < 6; ++seed) {
      const Terms terms =
          random_terms(form, 2 + static_cast<std::int32_t>(seed) * 2, seed % 2 == 0, seed + 1);
      for (const std::int32_t sense : {KILN_MINIMIZE, KILN_MAXIMIZE}) {
        const Answer answer = solve(solver, terms, sense);
        const double best = best_of_all(terms, sense == KILN_MAXIMIZE);
        EXPECT_DOUBLE_EQ(answer.value, best) << "form " << form << " seed " << seed;
        EXPECT_DOUBLE_EQ(value_of(terms, answer.state, {}), best) << "the state has another value";
      }
    }
  }
}

TEST(CInterface, DoesNotReadTermsOtherwise) {
  const Solver solver;
  for (const std::int32_t form : {KILN_QUBO, KILN_ISING, KILN_MAX_CUT}) {
    const Terms terms = random_terms(form, 12, true, 7);
    const double value = solve(solver, terms, KILN_DEFAULT_SENSE).value;
    const bool maximize = form == KILN_MAX_CUT;
    EXPECT_EQ(value, best_of_all(terms, maximize));
    EXPECT_NE(value, best_of_all(terms, maximize, {.pair_factor = 2}));
    EXPECT_NE(value, best_of_all(terms, maximize, {.pair_factor = 0.5}));
    EXPECT_NE(value, best_of_all(terms, maximize, {.last_counts = true}));
    if (!maximize) {
      EXPECT_NE(value, best_of_all(terms, maximize, {.offset_factor = -1}));
      EXPECT_NE(value, best_of_all(terms, maximize, {.offset_factor = 0}));
    }
  }
}

TEST(CInterface, TakesIntegers) {
  const Solver solver;
  const Terms terms = random_terms(KILN_ISING, 9, true, 3);
  std::vector<std::int64_t> integers(terms.values.begin(), terms.values.end());
  kiln_model model = terms.model();
  model.values = nullptr;
  model.integers = integers.data();
  kiln_options options = kiln_default_options();
  options.replicas = 32;
  kiln_result result = kiln_empty_result();
  char error[256] = "old";
  ASSERT_EQ(kiln_solve(solver, &model, &options, &result, nullptr, error, sizeof error), KILN_OK);
  EXPECT_STREQ(error, "");
  EXPECT_EQ(result.value, best_of_all(terms, false));
  EXPECT_EQ(result.integral, 1);
  EXPECT_EQ(result.stop, KILN_CONVERGED);
}

TEST(CInterface, HasTheDefaultOptionsWhereNoneAreGiven) {
  const Solver solver;
  const Terms terms = random_terms(KILN_QUBO, 8, false, 5);
  const kiln_model model = terms.model();
  std::vector<std::int8_t> state(8);
  ASSERT_EQ(kiln_solve(solver, &model, nullptr, nullptr, state.data(), nullptr, 0), KILN_OK);
  EXPECT_DOUBLE_EQ(value_of(terms, state, {}), best_of_all(terms, false));
}

TEST(CInterface, AModelWithoutTermsHasItsOffset) {
  const Solver solver;
  kiln_model model = kiln_empty_model();
  model.form = KILN_QUBO;
  model.n = 3;
  model.offset = -2.5;
  kiln_result result = kiln_empty_result();
  ASSERT_EQ(kiln_solve(solver, &model, nullptr, &result, nullptr, nullptr, 0), KILN_OK);
  EXPECT_EQ(result.value, -2.5);
}

// Run under TSan, this finds what two solvers share.
TEST(CInterface, SolversInTwoThreadsDoNotDisturbEachOther) {
  const Terms one = random_terms(KILN_QUBO, 12, true, 11),
              other = random_terms(KILN_ISING, 11, false, 12);
  const Solver alone;
  const Answer expected_one = solve(alone, one, KILN_MINIMIZE);
  const Answer expected_other = solve(alone, other, KILN_MAXIMIZE);
  const auto repeat = [](const Terms& terms, std::int32_t sense, const Answer& expected) {
    const Solver own;
    for (int time = 0; time < 10; ++time) {
      const Answer answer = solve(own, terms, sense);
      EXPECT_EQ(answer.value, expected.value);
      EXPECT_EQ(answer.state, expected.state);
    }
  };
  std::thread first(repeat, std::cref(one), KILN_MINIMIZE, std::cref(expected_one));
  std::thread second(repeat, std::cref(other), KILN_MAXIMIZE, std::cref(expected_other));
  first.join();
  second.join();
}

}  // namespace
}  // namespace kiln::c_interface_test
