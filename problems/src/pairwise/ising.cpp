// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/ising.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kiln/errors.hpp"

#include "canonical.hpp"
#include "sha256.hpp"

namespace kiln::problems {

namespace {

void check_fields(const Ising& ising) {
  if (ising.n < 0 || ising.fields.size() != static_cast<std::size_t>(ising.n)) {
    throw InvalidArgument("problem.size",
                          "an Ising model of " + std::to_string(ising.n) + " spins has " +
                              std::to_string(ising.fields.size()) + " fields",
                          "one for each spin");
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
  for (std::size_t i = 0; i < ising.fields.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (ising.fields[i] != 0.0) writer.line(index, index, ising.fields[i]);
  }
  for (const Edge& coupling : ising.couplings) writer.line(coupling.u, coupling.v, coupling.weight);
  if (ising.offset != 0.0) {
    std::string line = "offset ";
    detail::append_number(line, ising.offset);
    writer.line(line);
  }
  writer.flush();
}

}  // namespace

void detail::require_canonical(const Ising& ising) {
  check_fields(ising);
  std::pair<std::int32_t, std::int32_t> last{-1, -1};
  for (const Edge& coupling : ising.couplings) {
    const bool in_order = last < key(coupling) && coupling.u < coupling.v;
    const bool exists = coupling.u >= 0 && coupling.v < ising.n;
    if (!in_order || !exists || !std::isfinite(coupling.weight) || coupling.weight == 0.0) {
      throw InvalidArgument("problem.not_canonical",
                            "the Ising model is not in canonical form at coupling (" +
                                std::to_string(coupling.u) + ", " + std::to_string(coupling.v) +
                                ")",
                            {}, "call canonicalize() first");
    }
    last = key(coupling);
  }
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
  std::string text;
  emit_canonical(ising, [&](std::string_view block) { text += block; });
  return text;
}

std::string fingerprint(const Ising& ising) {
  detail::Sha256 hash;
  emit_canonical(ising, [&](std::string_view block) { hash.update(block); });
  return hash.hex().substr(0, 16);
}

}  // namespace kiln::problems
