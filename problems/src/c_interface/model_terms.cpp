// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "c_interface/model_terms.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/problems/pairwise.hpp"

#include "c_interface/given_struct.hpp"
#include "canonical.hpp"

namespace kiln::problems::detail {
namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& expected) {
  throw InvalidArgument("interface.value", message, expected);
}

void check_model(const kiln_model& model) {
  if (model.form != KILN_QUBO && model.form != KILN_ISING && model.form != KILN_MAX_CUT) {
    refuse("kiln_model::form is " + std::to_string(model.form),
           "KILN_QUBO, KILN_ISING or KILN_MAX_CUT");
  }
  if (model.n < 1) refuse("kiln_model::n is " + std::to_string(model.n), "at least 1 variable");
  if (model.count < 0) {
    refuse("kiln_model::count is " + std::to_string(model.count), "0 or more terms");
  }
  if (!std::isfinite(model.offset)) refuse("kiln_model::offset is not finite", "a finite number");
  if (model.form == KILN_MAX_CUT && model.offset != 0) {
    refuse("kiln_model::offset is not 0", "0, because a cut has no offset");
  }
  if (model.count == 0) return;
  if (model.rows == nullptr || model.columns == nullptr) {
    refuse("kiln_model::rows or columns is NULL", "an array of count indices each");
  }
  if ((model.values == nullptr) == (model.integers == nullptr)) {
    refuse("kiln_model has both values and integers, or neither", "exactly one of them");
  }
}

double value_of_term(const kiln_model& model, std::int64_t k) {
  if (model.integers == nullptr) return model.values[k];
  constexpr std::int64_t largest = std::int64_t{1} << 53;  // all up to it are doubles
  const std::int64_t value = model.integers[k];
  if (value < -largest || value > largest) {
    refuse("integer " + std::to_string(k) + " is " + std::to_string(value),
           "at most 2^53 in magnitude");
  }
  return static_cast<double>(value);
}

// Calls linear(i, value) and pair(i, j, value) for each term, in order.
template <class Linear, class Pair>
void for_each_term(const kiln_model& model, Linear linear, Pair pair) {
  for (std::int64_t k = 0; k < model.count; ++k) {
    const std::int32_t row = model.rows[k], column = model.columns[k];
    const auto place = [&] {
      return "term " + std::to_string(k) + " (" + std::to_string(row) + ", " +
             std::to_string(column) + ")";
    };
    if (row < 0 || row >= model.n || column < 0 || column >= model.n) {
      refuse(place() + " names a variable that does not exist",
             "0 .. " + std::to_string(model.n - 1));
    }
    const double value = value_of_term(model, k);
    if (!std::isfinite(value)) refuse(place() + " has a value that is not finite", "a number");
    if (row != column) {
      pair(row, column, value);
    } else if (model.form == KILN_MAX_CUT) {
      refuse(place() + " joins a vertex to itself", "two vertices");
    } else {
      linear(static_cast<std::size_t>(row), value);
    }
  }
}

PairwiseModel model_of_terms(const kiln_model& given) {
  const auto n = static_cast<std::size_t>(given.n);
  LinearSums linear(n);
  const auto add_linear = [&](std::size_t i, double value) { linear.add(i, value); };
  if (given.form == KILN_QUBO) {
    Qubo qubo{given.n, {}, {}, given.offset};
    for_each_term(given, add_linear, [&](std::int32_t i, std::int32_t j, double value) {
      qubo.quadratic.push_back({i, j, value});
    });
    qubo.linear = linear.values();
    return qubo;
  }
  std::vector<Edge> edges;
  for_each_term(given, add_linear, [&](std::int32_t i, std::int32_t j, double value) {
    edges.push_back({i, j, value});
  });
  if (given.form == KILN_MAX_CUT) return Graph{given.n, std::move(edges)};
  return Ising{given.n, linear.values(), std::move(edges), given.offset};
}

Sense sense_of(const PairwiseModel& model, std::int32_t sense) {
  if (sense == KILN_DEFAULT_SENSE) return natural_sense(model);
  if (sense == KILN_MINIMIZE) return Sense::minimize;
  if (sense == KILN_MAXIMIZE) return Sense::maximize;
  refuse("kiln_options::sense is " + std::to_string(sense),
         "KILN_DEFAULT_SENSE, KILN_MINIMIZE or KILN_MAXIMIZE");
}

}  // namespace

Problem problem_of_terms(const kiln_model& model, std::int32_t sense) {
  const kiln_model given = given_struct(model, "kiln_model");
  check_model(given);
  PairwiseModel terms = model_of_terms(given);
  const Sense direction = sense_of(terms, sense);
  return make_pairwise(std::move(terms), direction, "model");
}

}  // namespace kiln::problems::detail
