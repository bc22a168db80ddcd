// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Functors of one's own on CPU and GPU from one source: a function with many minima is annealed,
// and a posterior of constrained parameters is sampled. Neither has a gradient written down.
#include <cmath>
#include <cstdio>
#include <kiln/cuda/device_objective.cuh>
#include <kiln/kiln.hpp>

namespace {

// Styblinski and Tang: 2^5 minima, the lowest at -2.9035 in every coordinate, value -195.83.
struct ManyMinima {
  static constexpr int fixed_dimension = 5;
  template <class T>
  KILN_HD T operator()(const T* x) const {
    T sum = 0;
    for (int i = 0; i < fixed_dimension; ++i) {
      const T square = x[i] * x[i];
      sum += 0.5 * (square * square - 16 * square + 5 * x[i]);
    }
    return sum;
  }
};

// 16 events in 4 hours at a rate with prior Exponential(1), and 7 of 10 trials that succeed with a
// probability that may be anything: minus the log prior, and minus the log likelihood.
struct RateAndShare {
  static constexpr int fixed_dimension = 2;
  template <class T>
  KILN_HD kiln::Parts<T> operator()(const T* values) const {
    const T &rate = values[0], &share = values[1];
    using kiln::math::log;
    return {rate, 4 * rate - 16 * log(rate) - 7 * log(share) - 3 * log(1 - share)};
  }
};

void minimize(kiln::Engine& engine) {
  const kiln::Problem problem = kiln::make_problem(
      kiln::make_device_objective("many minima", ManyMinima{}, kiln::Bounds{-5, 5}));
  kiln::SimulatedAnnealing annealing;
  const kiln::Result result = engine.run(problem, annealing, {.sweeps = 2000});
  std::printf("minimum   %.2f at", result.objective);
  for (const double x : result.reals()) std::printf(" %.2f", x);
  std::printf("\n");
}

void sample(kiln::Engine& engine) {
  const kiln::Parameters parameters = kiln::Parameters().positive("rate").interval("share", 0, 1);
  const kiln::Problem problem =
      kiln::make_device_posterior<2, 2>("counts", RateAndShare{}, parameters);
  kiln::HmcOptions options;
  options.draws = 500;
  kiln::Hmc hmc(options);
  const kiln::Result result = engine.run(problem, hmc, {});
  const kiln::Sample& draws = *result.sample;
  for (std::size_t q = 0; q < draws.names.size(); ++q) {
    double sum = 0, squares = 0;
    for (std::int64_t chain = 0; chain < draws.chains; ++chain) {
      for (std::int64_t draw = 0; draw < draws.draws; ++draw) {
        const double value = draws.value(chain, draw, q);
        sum += value;
        squares += value * value;
      }
    }
    const double n = static_cast<double>(draws.chains * draws.draws), mean = sum / n;
    std::printf("%-9s mean %.1f, deviation %.1f\n", draws.names[q].c_str(), mean,
                std::sqrt(squares / n - mean * mean));
  }
}

}  // namespace

int main() {
  try {
    kiln::Engine engine({.replicas = 256, .seed = 1});
    minimize(engine);
    sample(engine);
    return 0;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
