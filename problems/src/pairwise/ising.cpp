// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/ising.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kiln/errors.hpp"

#include "canonical.hpp"

namespace kiln::problems {

namespace {

void check_fields(const Ising& ising) {
  if (ising.n < 0 || ising.fields.size() != static_cast<std::size_t>(ising.n)) {
    throw InvalidArgument("problem.size",
                          "an Ising model of " + std::to_string(ising.n) + " spins has " +
                              std::to_string(ising.fields.size()) + " fields",
                          "one field for each spin");
  }
  for (std::size_t i = 0; i < ising.fields.size(); ++i) {
    if (!std::isfinite(ising.fields[i])) {
      throw InvalidArgument("problem.value", "field " + std::to_string(i) + " is not finite");
    }
  }
  if (!std::isfinite(ising.offset)) {
    throw InvalidArgument("problem.value", "the offset is not finite");
  }
}

template <class Sink>
void emit_canonical(const Ising& ising, Sink sink) {
  detail::require_canonical(ising);
  detail::LineWriter writer(sink);
  writer.line("spin " + std::to_string(ising.n));
  detail::write_quadratic(writer, ising.fields, ising.couplings, ising.offset);
  writer.flush();
}

}  // namespace

void detail::require_canonical(const Ising& ising) {
  check_fields(ising);
  require_canonical_pairs(ising.couplings, ising.n,
                          "the Ising model is not in canonical form at coupling");
}

std::int64_t canonicalize(Ising& ising) {
  if (ising.fields.empty() && ising.n > 0) {
    ising.fields.resize(static_cast<std::size_t>(ising.n), 0.0);
  }
  check_fields(ising);
  Graph graph{ising.n, std::move(ising.couplings)};
  std::int64_t n_merged = 0;
  try {
    n_merged = canonicalize(graph);
  } catch (...) {
    ising.couplings = std::move(graph.edges);
    throw;
  }
  ising.couplings = std::move(graph.edges);
  std::erase_if(ising.couplings, [](const Edge& coupling) { return coupling.weight == 0.0; });
  for (double& field : ising.fields) field += 0.0;  // turns -0 into 0
  ising.offset += 0.0;
  return n_merged;
}

std::string canonical_text(const Ising& ising) {
  return detail::text_of([&](auto sink) { emit_canonical(ising, sink); });
}

std::string fingerprint(const Ising& ising) {
  return detail::fingerprint_of([&](auto sink) { emit_canonical(ising, sink); });
}

}  // namespace kiln::problems
