// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/lbfgs_step.hpp"

#include <memory>
#include <string>

#include "bench/kernel_case.hpp"
#include "bench/process_fixture.hpp"

namespace kiln::cli {
namespace lbfgs_step_bench {

constexpr std::int64_t max_launches = 20;

// Minimisations whose histories are full. No launch ends one and none adds to its history: slopes
// are the same at every trial, and values fall from one launch to the next.
struct DescentArrays {
  DescentArrays(Queue& queue, std::int64_t n_items, std::int64_t n_axes)
      : items(n_items),
        n(n_axes),
        point(queue, ProcessArrays::draw(items * n)),
        gradient(queue, point.download()),
        direction(queue, items * n),
        pair(queue, pairs()),
        trial(queue, point.download()),
        trial_gradient(queue, point.download()),
        trial_value(queue, falling_values()),
        lower(queue, std::vector<double>(static_cast<std::size_t>(n), -1e9)),
        upper(queue, std::vector<double>(static_cast<std::size_t>(n), 1e9)),
        state(queue, items),
        running(queue, std::vector<std::int32_t>(static_cast<std::size_t>(items), 1)),
        first(queue, states()),
        again(queue, std::vector<std::int32_t>(static_cast<std::size_t>(items), 1)) {}

  LbfgsStep kernel(std::uint32_t launch) {
    LbfgsStep of;
    of.items = items;
    of.point = {point.data(), items, n, n};
    of.gradient = {gradient.data(), items, n, n};
    of.direction = {direction.data(), items, n, n};
    const std::int64_t size = LbfgsStep::pair_size(n);
    of.pair = {pair.data(), items, size, size};
    of.trial = {trial.data(), items, n, n};
    of.trial_gradient = {trial_gradient.data(), items, n, n};
    of.trial_value = {trial_value.data() + launch * items, items};
    of.lower = {lower.data(), 1, n, n};
    of.upper = {upper.data(), 1, n, n};
    of.state = state.view();
    of.running = running.view();
    return of;
  }
  void reset(Queue& queue) {
    queue.copy(state.data(), first.data(), state.bytes());
    queue.copy(running.data(), again.data(), running.bytes());
  }

  std::int64_t items, n;
  DeviceArray<double> point, gradient, direction, pair, trial, trial_gradient, trial_value, lower,
      upper;
  DeviceArray<LbfgsState> state;
  DeviceArray<std::int32_t> running;
  DeviceArray<LbfgsState> first;
  DeviceArray<std::int32_t> again;

 private:
  std::vector<double> falling_values() const {
    std::vector<double> all;
    for (std::int64_t i = 0; i < max_launches * items; ++i) {
      all.push_back(-1e6 * static_cast<double>(1 + i / items));
    }
    return all;
  }
  std::vector<LbfgsState> states() const {
    LbfgsState one;
    one.value = 2;
    one.step = 1;
    one.begun = 1;
    one.pairs = static_cast<std::int32_t>(LbfgsStep::history);
    return std::vector<LbfgsState>(static_cast<std::size_t>(items), one);
  }
  // Steps along one axis each, with the curvature of that axis.
  std::vector<double> pairs() const {
    std::vector<double> all;
    for (std::int64_t item = 0; item < items; ++item) {
      for (std::int64_t at = 0; at < LbfgsStep::history; ++at) {
        for (const bool slope : {false, true}) {
          for (std::int64_t k = 0; k < n; ++k) {
            const double bend = slope ? 1.0 + static_cast<double>(k) : 1.0;
            all.push_back(k == at % n ? 0.1 * bend : 0.0);
          }
        }
      }
      for (std::int64_t at = 0; at < LbfgsStep::history; ++at) {
        all.push_back(0.01 * (1.0 + static_cast<double>(at % n)));
      }
    }
    return all;
  }
};

KernelCase case_of(std::int64_t items, std::int64_t n) {
  const auto prepare = [=](BenchContext& context) -> PreparedKernel {
    Queue& queue = context.queue();
    const auto data = std::make_shared<DescentArrays>(queue, items, n);
    Launches launches{[data, &queue](std::uint32_t i) { queue.launch(data->kernel(i)); },
                      [data, &queue] { data->reset(queue); }};
    launches.most = max_launches;
    const double vectors = 8.0 * static_cast<double>(data->point.bytes());
    return {launches, static_cast<double>(data->pair.bytes()) + vectors};
  };
  return {std::to_string(items) + " minimisations in " + std::to_string(n) + " dimensions",
          prepare};
}

}  // namespace lbfgs_step_bench

template <>
std::vector<KernelCase> bench_cases<LbfgsStep>() {
  using namespace lbfgs_step_bench;
  return {case_of(8000, 8)};
}

}  // namespace kiln::cli
