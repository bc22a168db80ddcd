// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Population annealing of a spin glass with 64 spins: its free energy with an error, and how many
// ground states it has, beside exact values from a transfer matrix.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <kiln/kiln.hpp>
#include <vector>

namespace {

constexpr int width = 8, height = 8;
constexpr std::int64_t n_populations = 8, n_replicas = 1024;  // of each

// Couplings +1 and -1 on an 8 x 8 grid, drawn by a small generator of their own.
struct Grid {
  double left[height][width] = {}, up[height][width] = {};  // coupling to that neighbour

  Grid() {
    std::uint32_t state = 2026;
    const auto sign = [&] {
      state = state * 1664525u + 1013904223u;
      return (state >> 31) != 0 ? 1.0 : -1.0;
    };
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        if (column > 0) left[row][column] = sign();
        if (row > 0) up[row][column] = sign();
      }
    }
  }

  kiln::Ising model() const {
    kiln::Ising ising;
    ising.n = width * height;
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        const int site = row * width + column;
        if (column > 0) ising.couplings.push_back({site - 1, site, left[row][column]});
        if (row > 0) ising.couplings.push_back({site - width, site, up[row][column]});
      }
    }
    return ising;
  }
};

// log Z, site by site: weight[s] sums over all states of the sites so far whose last `width` spins,
// one for each column, are the bits of s.
double exact_log_z(const Grid& grid, double beta) {
  std::vector<double> weight(1 << width, 0.0);
  weight[0] = 1;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      std::vector<double> next(weight.size(), 0.0);
      for (unsigned before = 0; before < weight.size(); ++before) {
        const auto spin = [before](int bit) { return (before >> bit & 1u) != 0 ? -1 : 1; };
        for (const int own : {1, -1}) {
          double energy = grid.up[row][column] * spin(column) * own;
          if (column > 0) energy += grid.left[row][column] * spin(column - 1) * own;
          const unsigned bit = 1u << column;
          next[own < 0 ? before | bit : before & ~bit] += weight[before] * std::exp(-beta * energy);
        }
      }
      weight = next;
    }
  }
  double z = 0;
  for (const double one : weight) z += one;
  return std::log(z);
}

}  // namespace

int main() {
  try {
    const Grid grid;
    const kiln::Problem problem = kiln::make_ising(grid.model(), "glass");
    kiln::Engine engine({.replicas = n_populations * n_replicas, .seed = 1});

    bool verified = true;
    std::printf("beta   free energy    error      exact   families\n");
    for (const double beta : {0.5, 1.0, 4.0}) {
      kiln::PopulationAnnealing annealing({.beta_max = beta, .groups = n_populations});
      const kiln::Result result = engine.run(problem, annealing, {.sweeps = 310});
      const double log_z = result.diagnostics.at("log_z"),
                   error = result.diagnostics.at("log_z_error");
      std::printf("%-4g   %11.4f   %.4f   %8.4f   %8.0f\n", beta, -log_z / beta, error / beta,
                  -exact_log_z(grid, beta) / beta, result.diagnostics.at("families"));
      verified = verified && result.verified;
      if (beta < 4) continue;

      // Hardly anything but ground states is left of Z: their number is Z exp(beta E).
      const double count = std::exp(log_z + beta * result.energy), cold = 6;
      std::printf("\nlowest energy  %g\n", result.energy);
      std::printf("ground states  %.0f +- %.0f, exact %.0f\n", count, count * error,
                  std::exp(exact_log_z(grid, cold) + cold * result.energy));
    }
    return verified ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
