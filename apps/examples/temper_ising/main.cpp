// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Parallel tempering as a sampler: mean energies and log Z of a small Ising model at five
// temperatures, beside the exact values from all 4096 states, and the ground state.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <kiln/kiln.hpp>
#include <vector>

namespace {

constexpr int width = 4, height = 3, n_spins = width * height;

// A 4 x 3 grid with couplings of both signs, and fields that single out one of the ground states.
kiln::Ising make_grid() {
  kiln::Ising grid;
  grid.n = n_spins;
  const double pattern[] = {1, -1, -1, 1, -1, 1, 1, 1, -1, -1, 1, -1, -1, 1, 1, 1, -1};
  std::size_t next = 0;
  for (int site = 0; site < n_spins; ++site) {
    grid.fields.push_back(site % 3 == 0 ? 0.5 : -0.25);
    if (site % width + 1 < width) grid.couplings.push_back({site, site + 1, pattern[next++]});
    if (site + width < n_spins) grid.couplings.push_back({site, site + width, pattern[next++]});
  }
  return grid;
}

double energy_of(const kiln::Ising& grid, const std::vector<int>& spins) {
  const auto spin = [&](int site) { return spins[static_cast<std::size_t>(site)]; };
  double energy = 0;
  for (int site = 0; site < grid.n; ++site) {
    energy += grid.fields[static_cast<std::size_t>(site)] * spin(site);
  }
  for (const kiln::Edge& edge : grid.couplings) energy += edge.weight * spin(edge.u) * spin(edge.v);
  return energy;
}

std::vector<double> all_energies(const kiln::Ising& grid) {
  std::vector<double> energies;
  for (int bits = 0; bits < 1 << n_spins; ++bits) {
    std::vector<int> spins;
    for (int site = 0; site < n_spins; ++site) spins.push_back((bits >> site & 1) != 0 ? 1 : -1);
    energies.push_back(energy_of(grid, spins));
  }
  return energies;
}

struct Exact {
  double mean_energy = 0;
  double log_z = 0;
};

Exact enumerate(const std::vector<double>& energies, double beta) {
  double z = 0, sum = 0;
  for (const double energy : energies) {
    z += std::exp(-beta * energy);
    sum += energy * std::exp(-beta * energy);
  }
  return {sum / z, std::log(z)};
}

}  // namespace

int main() {
  try {
    const kiln::Ising grid = make_grid();
    const std::vector<double> energies = all_energies(grid);
    const kiln::Problem problem = kiln::make_ising(grid, "grid");

    kiln::ParallelTempering tempering({.ladder = "list",
                                       .betas = {0.2, 0.4, 0.7, 1.1, 1.6},
                                       .burn_in = 1000,
                                       .cluster_moves = "off"});
    kiln::Engine engine({.replicas = 160, .seed = 1});  // 32 ladders of 5 rungs
    const kiln::Result result = engine.run(problem, tempering, {.sweeps = 40000});

    std::printf("beta   mean energy     exact   log Z ratio     exact\n");
    const std::vector<double>& betas = result.series.at("beta");
    const double first = enumerate(energies, betas.front()).log_z;
    for (std::size_t rung = 0; rung < betas.size(); ++rung) {
      const Exact exact = enumerate(energies, betas[rung]);
      std::printf("%.1f    %11.2f %9.2f   %11.2f %9.2f\n", betas[rung],
                  result.series.at("mean_energy")[rung], exact.mean_energy,
                  result.series.at("log_z")[rung], exact.log_z - first);
    }
    std::printf("\nground state  %g, exact %g\n", result.energy,
                *std::min_element(energies.begin(), energies.end()));
    for (int site = 0; site < n_spins; ++site) {
      const bool last = site % width + 1 == width;
      std::printf(" %c%s", result.spins()[static_cast<std::size_t>(site)] > 0 ? '+' : '-',
                  last ? "\n" : "");
    }
    return result.verified ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
