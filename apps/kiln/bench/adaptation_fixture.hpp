// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/kernels/hamiltonian/add_pool_moments.hpp"
#include "kiln/kernels/hamiltonian/hmc_adapt.hpp"
#include "kiln/kernels/hamiltonian/record_draws.hpp"

#include "bench/kernel_case.hpp"

namespace kiln::cli {

/// What a warm-up keeps for one pool of chains, with correlations.
struct AdaptationArrays {
  AdaptationArrays(Queue& queue, std::int64_t dimensions, std::int64_t n_chains)
      : d(dimensions),
        chains(n_chains),
        vectors(queue, filled(5 * d * chains, 1.5)),
        scalars(queue, filled(3 * chains, 0.7)),
        counts(queue, chains * 3),
        totals(queue, chains * 3),
        moments(queue, filled(2 * (2 * d + d * d), 1.0)),
        chain_moments(queue, filled(4 * d * chains, 0.0)),
        metric(queue, filled(d + d * d + d, 1.0)),
        scratch(queue, HmcAdapt::scratch_size(d, true)),
        used(queue, 1),
        windows(queue, std::vector<std::uint32_t>{1u << 30}),
        adaptation(queue, std::vector<HmcAdaptation>{collecting()}),
        tuning(queue, std::vector<HmcTuning>{{}}),
        control(queue, std::vector<RunControl>{{}}) {
    counts.zero();
    totals.zero();
    used.zero();
  }

  ChainPools pools() const { return {{}, 1, chains}; }
  View2<double> vector(std::int64_t index) {
    return {vectors.data() + index * d * chains, d, chains, chains};
  }
  View2<const double> const_vector(std::int64_t index) {
    return {vectors.data() + index * d * chains, d, chains, chains};
  }
  View1<double> scalar(std::int64_t index) { return {scalars.data() + index * chains, chains}; }
  View1<std::int32_t> count(std::int64_t index) { return {counts.data() + index * chains, chains}; }
  View1<std::uint64_t> total(std::int64_t index) {
    return {totals.data() + index * chains, chains};
  }
  PoolMoments pool_moments() {
    PoolMoments m;
    m.dimension = d;
    m.cross = true;
    double* at = moments.data();
    for (int which = 0; which < 2; ++which) {
      m.centre[which] = {at, d};
      m.sum[which] = {at + d, d};
      m.square[which] = {at + 2 * d, d * d};
      at += 2 * d + d * d;
    }
    return m;
  }
  TransitionStatistics statistics() {
    TransitionStatistics s;
    s.acceptance = scalar(0);
    s.hamiltonian = scalar(1);
    s.leapfrogs = count(0);
    s.depth = count(1);
    s.divergent = count(2);
    s.start = vector(2);
    s.proposal = vector(3);
    s.velocity = vector(4);
    return s;
  }

  std::int64_t d, chains;
  DeviceArray<double> vectors, scalars;
  DeviceArray<std::int32_t> counts;
  DeviceArray<std::uint64_t> totals;
  DeviceArray<double> moments, chain_moments, metric, scratch;
  DeviceArray<std::int32_t> used;
  DeviceArray<std::uint32_t> windows;
  DeviceArray<HmcAdaptation> adaptation;
  DeviceArray<HmcTuning> tuning;
  DeviceArray<RunControl> control;

 private:
  static std::vector<double> filled(std::int64_t size, double value) {
    return std::vector<double>(static_cast<std::size_t>(size), value);
  }
  static HmcAdaptation collecting() {
    HmcAdaptation state;
    state.search = 0;
    state.collects = 1;
    return state;
  }
};

}  // namespace kiln::cli
