// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/kernels/bifurcation/bifurcation_matrix.hpp"
#include "kiln/kernels/bifurcation/bifurcation_readout.hpp"
#include "kiln/kernels/bifurcation/bifurcation_start.hpp"
#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {

/// Oscillators of an instance, at the start of a round.
class BenchOscillators {
 public:
  static constexpr std::int64_t replicas = 1024;
  static constexpr std::uint32_t steps = 50;

  BenchOscillators(BenchContext& context, const std::string& instance)
      : states_(context, instance),
        position_(context.queue(), cells()),
        momentum_(context.queue(), cells()),
        state_(context.queue(), std::int64_t{model().n_variables} * replicas / 32),
        key_(context.queue(), std::vector<std::uint64_t>(replicas, 1)),
        replica_(context.queue(), numbers()),
        tuning_(context.queue(), std::vector<BifurcationTuning>{{0.01F, 1, 1}}),
        rung_of_(context.queue(), std::vector<std::int32_t>(replicas, 0)),
        scratch_(context.queue(),
                 BifurcationSteps::scratch_bytes(model().n_sites, replicas, model().sequential)) {
    context.queue().launch(start());
    if (!model().sequential) return;
    matrix_memory_ = DeviceArray<std::int8_t>(context.queue(), matrix_cells());
    context.queue().launch(matrix());
  }

  const PairwiseView& model() {
    return states_.objective().as<PairwiseModelled>()->pairwise_model();
  }
  BifurcationMatrix matrix() {
    const std::int64_t n = model().n_sites;
    return {model(), {matrix_memory_.data(), n, n, n}};
  }
  BifurcationStart start() {
    return {model().variable, view(position_),     view(momentum_),
            draw_ids(),       BifurcationRounds{}, states_.control()};
  }
  BifurcationSteps kernel() {
    BifurcationSteps kernel;
    kernel.model = model();
    kernel.position = view(position_);
    kernel.momentum = view(momentum_);
    kernel.tuning = tuning_.view();
    kernel.rung_of = rung_of_.view();
    kernel.steps = steps;
    kernel.scratch = scratch_.view();
    const std::int64_t n = model().n_sites;
    if (matrix_memory_.size() > 0) kernel.matrix = {matrix_memory_.data(), n, n, n};
    kernel.control = states_.control();
    return kernel;
  }
  BifurcationReadout readout() {
    const View2<float> all = view(position_);
    BifurcationReadout kernel;
    kernel.variable = model().variable;
    kernel.position = {all.data, all.rows, all.columns, all.stride};
    kernel.state = {state_.data(), model().n_variables, replicas / 32, replicas / 32};
    kernel.control = states_.control();
    return kernel;
  }

 private:
  std::int64_t cells() { return std::int64_t{model().n_sites} * replicas; }
  std::int64_t matrix_cells() { return std::int64_t{model().n_sites} * model().n_sites; }
  View2<float> view(DeviceArray<float>& array) {
    return {array.data(), model().n_sites, replicas, replicas};
  }
  DrawIds draw_ids() { return {key_.view(), replica_.view()}; }
  static std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < replicas; ++i) all.push_back(i);
    return all;
  }

  ObjectiveBatch states_;
  DeviceArray<float> position_, momentum_;
  DeviceArray<std::uint32_t> state_;
  DeviceArray<std::uint64_t> key_;
  DeviceArray<std::uint32_t> replica_;
  DeviceArray<BifurcationTuning> tuning_;
  DeviceArray<std::int32_t> rung_of_;
  DeviceArray<std::byte> scratch_;
  DeviceArray<std::int8_t> matrix_memory_;
};

}  // namespace kiln::cli
