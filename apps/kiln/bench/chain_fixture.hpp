// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kiln/device/normal.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/hamiltonian/hmc_transition.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"
#include "kiln/problems/densities/all.hpp"

#include "bench/kernel_case.hpp"

namespace kiln::cli {

/// Chains that move in a density of the catalogue at beta 1, with a diagonal metric.
struct ChainArrays {
  template <class Density>
  ChainArrays(Queue& queue, const Density& of, std::int64_t n_chains, const HmcTuning& how)
      : density(of),
        dimension(dimension_of(of)),
        workspace(of.workspace()),
        chains(n_chains),
        position(queue, places()),
        gradient(queue, dimension * chains),
        energy(queue, chains),
        base(queue, chains),
        term(queue, chains),
        base_weight(queue, nothing()),
        term_weight(queue, nothing()),
        beta(queue, std::vector<double>{1}),
        scale(queue, std::vector<double>(static_cast<std::size_t>(dimension), 1.0)),
        tuning(queue, std::vector<HmcTuning>{how}),
        scratch(queue, chains * NutsTransition::scratch_size(dimension, workspace)),
        rung_of(queue, chains),
        key(queue, std::vector<std::uint64_t>(static_cast<std::size_t>(chains), 1)),
        replica(queue, numbers()),
        control(queue, std::vector<RunControl>{{}}) {
    rung_of.zero();
  }

  ChainState state() {
    ChainState s;
    s.position = matrix(position);
    s.gradient = matrix(gradient);
    s.gradient_base_weight = base_weight.view();
    s.gradient_term_weight = term_weight.view();
    s.energy = energy.view();
    s.base = base.view();
    s.term = term.view();
    s.beta = beta.view();
    s.rung_of = rung_of.view();
    s.draw_ids = {key.view(), replica.view()};
    s.replicas = chains;
    s.control = control.data();
    return s;
  }
  View2<double> matrix(DeviceArray<double>& array) const {
    return {array.data(), dimension, chains, chains};
  }
  /// A transition; `step` names its draws.
  template <class Kernel>
  Kernel transition(std::uint32_t step, ChainLayout layout) {
    Kernel kernel;
    kernel.density = density;
    kernel.chains = state();
    kernel.chains.step_offset = step;
    kernel.metric.dimension = static_cast<int>(dimension);
    kernel.metric.scale = scale.view();
    kernel.tuning = tuning.view();
    kernel.layout = layout;
    kernel.scratch = scratch.view();
    return kernel;
  }
  /// Position and gradient, in and out.
  double bytes() const { return 32.0 * static_cast<double>(dimension * chains); }

  DensityRef density;
  std::int64_t dimension, workspace, chains;
  DeviceArray<double> position, gradient, energy, base, term, base_weight, term_weight, beta, scale;
  DeviceArray<HmcTuning> tuning;
  DeviceArray<double> scratch;
  DeviceArray<std::int32_t> rung_of;
  DeviceArray<std::uint64_t> key;
  DeviceArray<std::uint32_t> replica;
  DeviceArray<RunControl> control;

 private:
  // Standard normal numbers, the same for every backend.
  std::vector<double> places() const {
    std::vector<double> all;
    const DrawName name{1, 0, 0, RngDomain::initial_state, 0};
    for (std::int64_t i = 0; i < dimension * chains; ++i) {
      all.push_back(standard_normal(name, static_cast<std::uint32_t>(i)));
    }
    return all;
  }
  std::vector<double> nothing() const {
    return std::vector<double>(static_cast<std::size_t>(chains),
                               std::numeric_limits<double>::quiet_NaN());
  }
  std::vector<std::uint32_t> numbers() const {
    std::vector<std::uint32_t> all(static_cast<std::size_t>(chains));
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }
};

/// Chains of a case: a CPU gets a 64th of those that fill a GPU, and one at least.
inline std::int64_t chains_of_case(const BenchContext& context, std::int64_t on_gpu) {
  return context.cuda() ? on_gpu : std::max<std::int64_t>(1, on_gpu / 64);
}

/// A transition of a density of the catalogue: HmcTransition or NutsTransition.
template <class Kernel, class Density>
KernelCase transition_case(const std::string& shape, const Density& density, std::int64_t on_gpu,
                           const HmcTuning& tuning, ChainLayout layout) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t chains = chains_of_case(context, on_gpu);
    const std::shared_ptr<ChainArrays> data =
        std::make_shared<ChainArrays>(queue, density, chains, tuning);
    const auto launch = [data, layout, &queue](std::uint32_t index) {
      queue.launch(data->transition<Kernel>(index, layout));
    };
    return {{launch}, data->bytes(), 0, chains};
  };
  return {shape, prepare};
}

}  // namespace kiln::cli
