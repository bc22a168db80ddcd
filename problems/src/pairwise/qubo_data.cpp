// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/problems/qubo.hpp"

#include "canonical.hpp"

namespace kiln::problems {

namespace {

void check_linear(const Qubo& qubo) {
  if (qubo.n < 0 || qubo.linear.size() != static_cast<std::size_t>(qubo.n)) {
    throw InvalidArgument("problem.size",
                          "a QUBO function of " + std::to_string(qubo.n) + " variables has " +
                              std::to_string(qubo.linear.size()) + " linear coefficients",
                          "one linear coefficient for each variable");
  }
  for (std::size_t i = 0; i < qubo.linear.size(); ++i) {
    if (!std::isfinite(qubo.linear[i])) {
      throw InvalidArgument("problem.value",
                            "linear coefficient " + std::to_string(i) + " is not finite");
    }
  }
  if (!std::isfinite(qubo.offset)) {
    throw InvalidArgument("problem.value", "the offset is not finite");
  }
}

void check_quadratic(const Qubo& qubo) {
  for (std::size_t k = 0; k < qubo.quadratic.size(); ++k) {
    const QuboTerm& term = qubo.quadratic[k];
    const auto refuse = [&](const char* code, const std::string& what) {
      throw InvalidArgument(code, "quadratic term " + std::to_string(k) + " (" +
                                      std::to_string(term.i) + ", " + std::to_string(term.j) +
                                      ") " + what);
    };
    if (term.i < 0 || term.i >= qubo.n || term.j < 0 || term.j >= qubo.n) {
      refuse("problem.range", "names a variable that does not exist; the number of variables is " +
                                  std::to_string(qubo.n));
    }
    if (term.i == term.j) refuse("problem.self_loop", "couples a variable to itself");
    if (!std::isfinite(term.value)) refuse("problem.value", "has a value that is not finite");
  }
}

template <class Sink>
void emit_canonical(const Qubo& qubo, Sink sink) {
  detail::require_canonical(qubo);
  detail::LineWriter writer(sink);
  writer.line(std::to_string(qubo.n));
  detail::write_quadratic(writer, qubo.linear, qubo.quadratic, qubo.offset);
  writer.flush();
}

}  // namespace

void detail::require_canonical(const Qubo& qubo) {
  check_linear(qubo);
  require_canonical_pairs(qubo.quadratic, qubo.n,
                          "the QUBO function is not in canonical form at term");
}

std::int64_t canonicalize(Qubo& qubo) {
  check_linear(qubo);
  std::int64_t n_merged = 0;
  if (!detail::are_canonical_pairs(qubo.quadratic, qubo.n, false)) {
    check_quadratic(qubo);
    for (QuboTerm& term : qubo.quadratic) {
      if (term.i > term.j) std::swap(term.i, term.j);
    }
    n_merged = detail::sort_and_merge(qubo.quadratic);
    // A zero says nothing about the function, so two files of one function must not differ by it.
    std::erase_if(qubo.quadratic, [](const QuboTerm& term) { return term.value == 0.0; });
  }
  for (double& coefficient : qubo.linear) coefficient += 0.0;  // turns -0 into 0
  qubo.offset += 0.0;
  return n_merged;
}

std::string canonical_text(const Qubo& qubo) {
  return detail::text_of([&](auto sink) { emit_canonical(qubo, sink); });
}

std::string fingerprint(const Qubo& qubo) {
  return detail::fingerprint_of([&](auto sink) { emit_canonical(qubo, sink); });
}

}  // namespace kiln::problems
