// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/views.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"

namespace kiln::test {

/// A density kernel that Kiln does not know: the squared length of the gradient of base + term at
/// the position of every chain.
struct Steepness {
  static constexpr const char* name = "steepness";

  View2<const double> position;  ///< [dimension][slots]
  std::int64_t replicas = 0;
  View1<double> square;  ///< [slots]
  ChainLayout layout = ChainLayout::warp;
  View1<double> scratch;  ///< [slots * scratch_size()]

  KILN_HD static constexpr std::int64_t scratch_size(std::int64_t dimension,
                                                     std::int64_t workspace) {
    return 2 * dimension + workspace;
  }
  KILN_HD std::int64_t chain_count() const { return replicas; }
  KILN_HD bool active() const { return true; }

  template <class Density, class Team>
  KILN_HD void run(const Density& target, const Team& team, std::int64_t slot,
                   double* memory) const {
    const int d = dimension_of(target);
    measure(target, team, slot, memory, memory + d, memory + 2 * d);
  }
  template <class Density>
  KILN_HD void run_in_registers(const Density& target, std::int64_t slot, double* work) const {
    double x[thread_vector_length<Density>], g[thread_vector_length<Density>];
    measure(target, SingleTeam{}, slot, x, g, work);
  }

 private:
  template <class Density, class Team>
  KILN_HD void measure(const Density& target, const Team& team, std::int64_t slot, double* x,
                       double* g, double* work) const {
    const int d = dimension_of(target);
    for (int i = team.rank(); i < d; i += team.size()) x[i] = position(i, slot);
    team.sync();
    target.template evaluate<Want::gradient>(team, DensityPoint{x, {1, 1}, g, work});
    double sum = 0;
    for (int i = team.rank(); i < d; i += team.size()) sum += g[i] * g[i];
    sum = team.sum(sum);
    if (team.rank() == 0) square[slot] = sum;
  }
};

}  // namespace kiln::test
