// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A maximum-weight independent set on a ring of six vertices, written as a QUBO: choose vertices of
// large total weight, no two of them neighbours. The answer is 0, 2 and 4 with weight 13.
#include <cstdio>
#include <kiln/kiln.hpp>

int main() {
  // f(x) = sum w_i x_i - 7 sum x_i x_j over neighbours. The penalty is larger than any weight, so
  // leaving out one of two chosen neighbours always pays.
  kiln::Qubo qubo;
  qubo.n = 6;
  qubo.linear = {3, 5, 4, 2, 6, 4};
  for (int i = 0; i < 6; ++i) qubo.quadratic.push_back({i, (i + 1) % 6, -7});

  try {
    const kiln::Problem problem = kiln::make_qubo(qubo, kiln::Sense::maximize, "ring");
    kiln::SimulatedAnnealing annealing;
    kiln::Engine engine({.replicas = 32, .seed = 1});
    const kiln::Result result = engine.run(problem, annealing, {.sweeps = 200});

    std::printf("weight    %g\nchosen   ", result.objective);
    int vertex = 0;
    for (const int bit : result.bits()) {
      if (bit != 0) std::printf(" %d", vertex);
      ++vertex;
    }
    std::printf("\nverified  %s\n", result.verified ? "yes" : "no");
    return result.verified ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
