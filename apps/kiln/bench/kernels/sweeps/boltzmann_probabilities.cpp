// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/boltzmann_probabilities.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace boltzmann_probabilities_bench {

// All that a choice among candidates wants: probabilities, normalisation, status and a draw.
struct Data {
  Data(Queue& queue, std::int64_t rows, std::int64_t columns)
      : energy(queue, ladder(rows * columns)),
        probability(queue, rows * columns),
        beta(queue, std::vector<double>(static_cast<std::size_t>(rows), 0.01)),
        norm(queue, rows),
        drawn(queue, rows),
        status(queue, rows),
        key(queue, std::vector<std::uint64_t>(static_cast<std::size_t>(rows), 1)),
        replica(queue, rows),
        control(queue, std::vector<RunControl>{{}}) {
    replica.zero();
  }

  static std::vector<double> ladder(std::int64_t n) {
    std::vector<double> energies;
    for (std::int64_t i = 0; i < n; ++i) energies.push_back(static_cast<double>(i % 997));
    return energies;
  }

  DeviceArray<double> energy, probability, beta;
  DeviceArray<BoltzmannNorm> norm;
  DeviceArray<std::int32_t> drawn;
  DeviceArray<BoltzmannStatus> status;
  DeviceArray<std::uint64_t> key;
  DeviceArray<std::uint32_t> replica;
  DeviceArray<RunControl> control;
};

PreparedKernel prepare(BenchContext& context, std::int64_t rows, std::int64_t columns) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue, rows, columns);
  const auto launch = [=, &queue](std::uint32_t) {
    BoltzmannProbabilities kernel;
    kernel.rows = rows;
    kernel.columns = columns;
    kernel.energy = {data->energy.data(), columns, 1};
    kernel.beta = data->beta.view();
    kernel.probability = {data->probability.data(), columns, 1};
    kernel.norm = data->norm.view();
    kernel.drawn = data->drawn.view();
    kernel.status = data->status.view();
    kernel.draw_ids = {data->key.view(), data->replica.view()};
    kernel.control = data->control.data();
    queue.launch(kernel);
  };
  return {{launch}, 16.0 * static_cast<double>(rows * columns) + 57.0 * static_cast<double>(rows)};
}

}  // namespace boltzmann_probabilities_bench

template <>
std::vector<KernelCase> bench_cases<BoltzmannProbabilities>() {
  using namespace boltzmann_probabilities_bench;
  const auto of = [](std::int64_t rows, std::int64_t columns) {
    return [=](BenchContext& context) { return prepare(context, rows, columns); };
  };
  return {{"1 row of 1000 energies", of(1, 1000), 10.0},
          {"100 rows of 1000 energies", of(100, 1000), 15.0},
          {"32768 rows of 8 energies", of(32768, 8)}};
}

}  // namespace kiln::cli
