// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/accept_move.hpp"

#include <array>

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace accept_move_bench {

constexpr std::int64_t slots = 32768;

// Two sets of energies that differ by up to 2 either way: going from one to the other and back at
// beta = 1 accepts some moves and takes others back.
std::vector<double> energies(int set) {
  std::vector<double> values;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    const std::int64_t step = (slot * (set == 0 ? 37 : 101)) % 129;
    values.push_back(static_cast<double>(step) / 64 - 1);
  }
  return values;
}

struct Data {
  explicit Data(Queue& queue)
      : batch(queue, {BlockKind::spin, 100, -1, 1}, Layout::i8, slots),
        first(queue, slots),
        second(queue, slots),
        value(queue, std::vector<double>(slots, 1.0)),
        energy(queue, energies(1)),
        trial{DeviceArray<double>(queue, energies(0)), DeviceArray<double>(queue, energies(1))},
        beta(queue, std::vector<double>{1.0}),
        accepted(queue, slots),
        not_finite(queue, slots) {
    first.zero();
    second.zero();
    accepted.zero();
    not_finite.zero();
  }

  AcceptMove kernel(std::uint32_t index) {
    AcceptMove kernel;
    kernel.block = batch.block();
    kernel.undo = {first.view(), second.view(), value.view()};
    kernel.energy = energy.view();
    kernel.trial_energy = trial[index % 2].view();
    kernel.accepted = accepted.view();
    kernel.not_finite = not_finite.view();
    kernel.beta = beta.view();
    kernel.rung_of = batch.rung_of();
    kernel.draw_ids = batch.draw_ids();
    kernel.control = batch.control();
    kernel.attempt = index;
    return kernel;
  }

  BlockBatch batch;
  DeviceArray<std::int32_t> first, second;
  DeviceArray<double> value, energy;
  std::array<DeviceArray<double>, 2> trial;
  DeviceArray<double> beta;
  DeviceArray<std::uint64_t> accepted, not_finite;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<Data>(queue);
  const auto launch = [data, &queue](std::uint32_t index) { queue.launch(data->kernel(index)); };
  constexpr double per_slot = 8 + 8 + 8 + 4 + 4;  // two energies, names, rung
  return {{launch}, per_slot * static_cast<double>(slots)};
}

}  // namespace accept_move_bench

template <>
std::vector<KernelCase> bench_cases<AcceptMove>() {
  using namespace accept_move_bench;
  return {{"32768 replicas of 100 spins, i8", prepare}};
}

}  // namespace kiln::cli
