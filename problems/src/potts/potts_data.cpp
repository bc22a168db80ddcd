// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/problems/potts.hpp"

#include "canonical.hpp"

namespace kiln::problems {

namespace {

void check_shape(const Potts& potts) {
  if (potts.n < 0) {
    throw InvalidArgument("problem.size",
                          "a Potts model cannot have " + std::to_string(potts.n) + " variables");
  }
  if (potts.q < 2 || potts.q > Potts::max_values) {
    throw InvalidArgument("problem.size",
                          "a Potts model cannot have " + std::to_string(potts.q) + " values",
                          "2 .. " + std::to_string(Potts::max_values));
  }
}

void check_fields(const Potts& potts) {
  for (std::size_t k = 0; k < potts.fields.size(); ++k) {
    const PottsField& field = potts.fields[k];
    const auto refuse = [&](const char* code, const std::string& what) {
      throw InvalidArgument(code, "field " + std::to_string(k) + " (" +
                                      std::to_string(field.variable) + ", " +
                                      std::to_string(field.value) + ") " + what);
    };
    if (field.variable < 0 || field.variable >= potts.n) {
      refuse("problem.range", "names a variable that does not exist; the number of variables is " +
                                  std::to_string(potts.n));
    }
    if (field.value < 0 || field.value >= potts.q) {
      refuse("problem.range", "names a value that does not exist; the number of values is " +
                                  std::to_string(potts.q));
    }
    if (!std::isfinite(field.amount)) refuse("problem.value", "has an amount that is not finite");
  }
}

template <class Sink>
void emit_canonical(const Potts& potts, Sink sink) {
  detail::require_canonical(potts);
  detail::LineWriter writer(sink);
  writer.line("potts " + std::to_string(potts.n) + " " + std::to_string(potts.q));
  for (const PottsField& field : potts.fields) writer.line(detail::line_of(field));
  for (const Edge& edge : potts.couplings) writer.line(edge.u, edge.v, edge.weight);
  writer.flush();
}

}  // namespace

std::string detail::line_of(const PottsField& field) {
  std::string text =
      "h " + std::to_string(field.variable) + " " + std::to_string(field.value) + " ";
  append_number(text, field.amount);
  return text;
}

void detail::require_canonical(const Potts& potts) {
  const auto refuse = [](const char* what) {
    throw InvalidArgument("problem.not_canonical",
                          std::string("the Potts model is not in canonical form: ") + what, {},
                          "call canonicalize() first");
  };
  check_shape(potts);
  std::pair<std::int32_t, std::int32_t> last{-1, -1};
  for (const PottsField& field : potts.fields) {
    const bool exists = field.variable >= 0 && field.variable < potts.n && field.value >= 0 &&
                        field.value < potts.q;
    if (!exists || key(field) <= last) refuse("the fields are out of order or out of range");
    if (!std::isfinite(field.amount) || field.amount == 0) refuse("a field is 0 or not finite");
    last = key(field);
  }
  last = {-1, -1};
  for (const Edge& edge : potts.couplings) {
    const bool exists = edge.u >= 0 && edge.u < edge.v && edge.v < potts.n;
    if (!exists || key(edge) <= last) refuse("the couplings are out of order or out of range");
    if (!std::isfinite(edge.weight) || edge.weight == 0) refuse("a coupling is 0 or not finite");
    last = key(edge);
  }
}

std::int64_t canonicalize(Potts& potts) {
  check_shape(potts);
  check_fields(potts);
  Graph couplings{potts.n, std::move(potts.couplings)};
  std::int64_t n_merged = 0;
  try {
    n_merged = canonicalize(couplings) + detail::sort_and_merge(potts.fields);
  } catch (...) {
    potts.couplings = std::move(couplings.edges);
    throw;
  }
  potts.couplings = std::move(couplings.edges);
  std::erase_if(potts.couplings, [](const Edge& edge) { return edge.weight == 0; });
  std::erase_if(potts.fields, [](const PottsField& field) { return field.amount == 0; });
  return n_merged;
}

std::string canonical_text(const Potts& potts) {
  return detail::text_of([&](auto sink) { emit_canonical(potts, sink); });
}

std::string fingerprint(const Potts& potts) {
  return detail::fingerprint_of([&](auto sink) { emit_canonical(potts, sink); });
}

std::string fingerprint(const Coloring& coloring) { return fingerprint(coloring.graph); }

}  // namespace kiln::problems
