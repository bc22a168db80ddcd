// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// usage: rate [NAME=VALUE...]
// Sweeps per second of annealing Rosenbrock's function of ten variables, as a functor of this
// program and as `function:rosenbrock-10` of Kiln, in pairs of runs that change their order.
//   device=auto  replicas=131072  sweeps=200  pairs=11
//   least=0  exit status 1 if the median of the ratio user / built in is below this
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <kiln/kiln.hpp>
#include <map>
#include <string>
#include <vector>
#if defined(__CUDACC__)
#include <kiln/cuda/device_objective.cuh>
#endif

namespace {

struct Rosenbrock {
  static constexpr int fixed_dimension = 10;
  template <class T>
  KILN_HD T operator()(const T* x) const {
    T sum{};
    for (int i = 0; i + 1 < fixed_dimension; ++i) {
      sum += 100 * kiln::math::square(x[i + 1] - x[i] * x[i]) + kiln::math::square(1 - x[i]);
    }
    return sum;
  }
};

std::shared_ptr<const kiln::Objective> make_rosenbrock(kiln::Bounds bounds) {
#if defined(__CUDACC__)
  return kiln::make_device_objective("rosenbrock", Rosenbrock{}, bounds);
#else
  return kiln::make_functor_objective("rosenbrock", Rosenbrock{}, bounds);
#endif
}

double sweeps_per_s(kiln::Engine& engine, const kiln::Problem& problem, std::int64_t sweeps) {
  kiln::SimulatedAnnealing annealing;
  const kiln::Result result = engine.run(problem, annealing, {.sweeps = sweeps});
  if (!result.verified) {
    std::fprintf(stderr, "%s: a wrong value\n", problem.identity.name.c_str());
    std::exit(2);
  }
  return static_cast<double>(result.work.sweeps) / result.time.run_s;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> given = {{"device", "auto"},
                                              {"replicas", "131072"},
                                              {"sweeps", "200"},
                                              {"pairs", "11"},
                                              {"least", "0"}};
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const std::string name = word.substr(0, word.find('='));
    if (name == word || !given.contains(name)) {
      std::fprintf(stderr, "rate: what is '%s'?\n", words[i]);
      return 2;
    }
    given[name] = word.substr(name.size() + 1);
  }
  kiln::RunOptions options;
  options.device = given["device"];
  options.replicas = std::stoll(given["replicas"]);
  options.seed = 1;
  kiln::Engine engine(options);
  const std::int64_t sweeps = std::stoll(given["sweeps"]);

  const kiln::Problem built_in = kiln::builtin_registry().problem("function").make("rosenbrock-10");
  const kiln::Block box = built_in.objective->space().blocks().front();
  const kiln::Problem own = kiln::make_problem(make_rosenbrock({box.lower, box.upper}));

  std::vector<double> of_own, of_built_in, ratio;
  sweeps_per_s(engine, own, sweeps);  // loads code
  sweeps_per_s(engine, built_in, sweeps);
  for (int pair = 0; pair < std::stoi(given["pairs"]); ++pair) {
    double first = 0;
    if (pair % 2 == 0) first = sweeps_per_s(engine, own, sweeps);
    of_built_in.push_back(sweeps_per_s(engine, built_in, sweeps));
    of_own.push_back(pair % 2 == 0 ? first : sweeps_per_s(engine, own, sweeps));
    ratio.push_back(of_own.back() / of_built_in.back());
  }
  const double share = median_of(ratio);
  std::printf("%s, %lld replicas, %lld sweeps\n",
              engine.backend().backend->info().description.c_str(),
              static_cast<long long>(options.replicas), static_cast<long long>(sweeps));
  std::printf("functor   %.4g sweeps/s\nbuilt in  %.4g sweeps/s\nratio     %.3f\n",
              median_of(of_own), median_of(of_built_in), share);
  return share < std::stod(given["least"]) ? 1 : 0;
}
