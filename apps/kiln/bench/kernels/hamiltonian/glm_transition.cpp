// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/glm_transition.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "kiln/objectives/generalized_linear.hpp"

#include "bench/chain_fixture.hpp"

namespace kiln::cli {
namespace glm_transition_bench {

// Standard normal covariates and coin tosses: as costly as any data of this size.
GlmData make_data(std::int64_t rows, int columns, std::optional<GlmForces> forces) {
  GlmData data;
  data.rows = rows;
  data.columns = columns;
  data.prior_scale = {1};
  data.forces = forces;
  const DrawName name{5, 0, 0, RngDomain::initial_state, 0};
  std::uint32_t next = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (int j = 0; j < columns; ++j) data.x.push_back(standard_normal(name, next++));
    data.y.push_back(static_cast<double>(draw_word(name, next++) & 1u));
  }
  return data;
}

struct Regression {
  Regression(Queue& queue, const GlmData& data, std::int64_t chains, const HmcTuning& tuning)
      : source(make_generalized_linear(data)),
        bound(source->bind(queue)),
        arrays(queue, plain(data.columns), chains, tuning) {}

  // What the arrays need to know of the density.
  static GeneralizedLinear plain(int columns) {
    GeneralizedLinear density;
    density.columns = columns;
    return density;
  }

  std::shared_ptr<const DensitySource> source;
  std::unique_ptr<BoundDensity> bound;
  ChainArrays arrays;
};

// A CPU gets as many chains as its kernel moves at once.
KernelCase case_of(std::int64_t rows, int columns, std::int64_t on_gpu, std::int32_t leapfrogs,
                   std::optional<GlmForces> forces = std::nullopt,
                   std::optional<double> gate_us = std::nullopt) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const std::int64_t chains = context.cuda() ? on_gpu : 16;
    HmcTuning tuning;
    tuning.step_size = 0.25 / std::sqrt(static_cast<double>(rows));
    tuning.leapfrogs = leapfrogs;
    const auto data =
        std::make_shared<Regression>(queue, make_data(rows, columns, forces), chains, tuning);
    const auto launch = [data, &queue](std::uint32_t index) {
      data->bound->run(data->arrays.transition<HmcTransition>(index, ChainLayout::warp), queue);
    };
    Launches launches{launch};
    launches.most = 50;
    PreparedKernel prepared{launches, data->arrays.bytes()};
    prepared.gradients = static_cast<double>(chains * leapfrogs);
    prepared.replicas = chains;
    return prepared;
  };
  return {fmt::format("logistic regression {} x {}, {} leapfrogs{}", rows, columns, leapfrogs,
                      forces == GlmForces::single ? ", single-precision forces" : ""),
          prepare, gate_us};
}

}  // namespace glm_transition_bench

template <>
std::vector<KernelCase> bench_cases<GlmTransition>() {
  using namespace glm_transition_bench;
  // 80 million gradients per second.
  const double gate_us = 4096 * 50 / 80.0;
  return {case_of(5000, 20, 4096, 50, std::nullopt, gate_us),
          case_of(5000, 20, 4096, 50, GlmForces::single), case_of(1000, 25, 16, 20)};
}

}  // namespace kiln::cli
