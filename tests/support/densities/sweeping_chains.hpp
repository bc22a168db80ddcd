// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/kernels/sweeps/density_energy.hpp"
#include "kiln/kernels/sweeps/density_sweep.hpp"

#include "backends/backends.hpp"
#include "densities/chains.hpp"

namespace kiln::test {

/// Chains that are swept: those of DeviceChains, with widths. Their energies are evaluated first.
class SweepingChains {
 public:
  SweepingChains(Queue& queue, const ChainInputs& in, double width)
      : queue_(queue),
        in_(in),
        chains_(queue, in),
        width_(queue, std::vector<double>(idx(in.dimension * chains_.slots()), width)),
        sweeps_(queue, std::vector<std::uint64_t>(idx(chains_.slots()), 0)) {
    const DensitySweep sweep = kernel();
    DensityEnergy energy;
    energy.density = in.density;
    const View2<double>& x = sweep.chains.position;
    energy.position = {x.data, x.rows, x.columns, x.stride};
    energy.replicas = in.replicas;
    energy.energy = sweep.chains.energy;
    energy.base = sweep.chains.base;
    energy.term = sweep.chains.term;
    energy.layout = in.layout;
    energy.scratch = sweep.scratch;
    queue.launch(energy);
  }

  DensitySweep kernel() {
    const HmcTransition source = chains_.kernel<HmcTransition>();
    DensitySweep kernel;
    kernel.density = source.density;
    kernel.chains = source.chains;
    kernel.chains.step_offset = done_;
    kernel.widths.width = {width_.data(), in_.dimension, chains_.slots(), chains_.slots()};
    kernel.widths.sweeps = sweeps_.view();
    kernel.widths.least = 1e-9;
    kernel.widths.most = 1e3;
    kernel.widths.by_rung = by_rung;
    kernel.accepted = source.statistics.accepted;
    kernel.not_finite = source.statistics.not_finite;
    kernel.layout = source.layout;
    kernel.scratch = source.scratch;
    return kernel;
  }
  void sweep(int times = 1) {
    for (int t = 0; t < times; ++t, ++done_) queue_.launch(kernel());
  }
  /// As after very many sweeps: widths stay as they are.
  void freeze_widths() { pretend_sweeps(4000000000u); }
  /// As after so many sweeps.
  void pretend_sweeps(std::uint64_t sweeps) {
    sweeps_.upload(std::vector<std::uint64_t>(idx(chains_.slots()), sweeps));
  }
  ChainOutputs outputs() const { return chains_.outputs(); }
  std::vector<double> widths() const { return width_.download(); }
  std::vector<std::uint64_t> sweeps() const { return sweeps_.download(); }
  DeviceChains& chains() { return chains_; }

  bool by_rung = false;

 private:
  Queue& queue_;
  ChainInputs in_;
  DeviceChains chains_;
  DeviceArray<double> width_;
  DeviceArray<std::uint64_t> sweeps_;
  std::uint32_t done_ = 0;
};

}  // namespace kiln::test
