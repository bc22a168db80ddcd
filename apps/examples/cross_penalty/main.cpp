// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Two equal halves of a 10 x 6 grid with the shortest border between them, by replica exchange over
// the strength of the penalty that makes them equal, and by tempering at full strength.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <kiln/kiln.hpp>
#include <vector>

namespace {

constexpr int width = 10, height = 6, n_cells = width * height;

// E = border + lambda (sum of all spins)^2. A cell is +1 or -1, which is the half that it is in.
kiln::PairwiseFamily make_halves() {
  kiln::PairwiseFamily family;
  family.base.n = family.term.n = n_cells;
  const auto touch = [&](int u, int v) {  // (1 - s_u s_v) / 2 is 1 where a border runs
    family.base.couplings.push_back({u, v, -0.5});
    family.base.offset += 0.5;
  };
  for (int v = 0; v < n_cells; ++v) {
    if (v % width > 0) touch(v - 1, v);
    if (v >= width) touch(v - width, v);
    for (int u = 0; u < v; ++u) family.term.couplings.push_back({u, v, 2});
  }
  family.term.offset = n_cells;  // the squares of the spins
  family.target = 0.5;           // one cell too many costs 2
  family.low = 0.01;             // and there almost nothing
  return family;
}

void print_row(const char* what, const kiln::Result& result) {
  std::printf("%-18s  %7.2f   %11.0f   %6g\n", what, result.diagnostics.at("barrier"),
              result.diagnostics.at("round_trips"), result.objective);
}

}  // namespace

int main() {
  try {
    const kiln::Problem problem = kiln::make_pairwise_family(make_halves(), "halves");
    kiln::Engine engine({.replicas = 32, .seed = 1});  // 4 ladders of 8 rungs
    const kiln::Budget budget{.sweeps = 1600};

    kiln::ParallelTempering over_beta({.rungs = 8, .beta_max = 2});
    kiln::ReplicaExchange over_lambda({.coordinate = "parameter", .rungs = 8, .beta_max = 2});
    const kiln::Result tempered = engine.run(problem, over_beta, budget);
    const kiln::Result exchanged = engine.run(problem, over_lambda, budget);

    std::printf("ladder over         barrier   round trips   border\n");
    print_row("temperature", tempered);
    print_row("penalty strength", exchanged);

    std::printf("\nlambda of the rungs ");
    for (const double lambda : exchanged.series.at("parameter")) std::printf(" %.3f", lambda);
    const std::vector<std::int8_t>& spins = exchanged.spins();
    std::printf("\nhalves               %d and %d cells\n",
                static_cast<int>(std::count(spins.begin(), spins.end(), 1)),
                static_cast<int>(std::count(spins.begin(), spins.end(), -1)));
    for (int cell = 0; cell < n_cells; ++cell) {
      const bool last = cell % width + 1 == width;
      std::printf(" %c%s", spins[static_cast<std::size_t>(cell)] > 0 ? '+' : '-', last ? "\n" : "");
    }
    return tempered.verified && exchanged.verified ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
