// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "densities/chains_cases.hpp"

#include "backends/backends.hpp"

namespace kiln::test {

ChainInputs spheres(int dimension, std::int64_t replicas, double step_size,
                    std::int32_t leapfrogs) {
  return make_chains(test_function(TestFunctionKind::sphere, dimension), replicas, 1, step_size,
                     leapfrogs);
}

std::vector<NamedChains> potentials_to_compare(std::int64_t replicas, std::int32_t leapfrogs) {
  EightSchools centered;
  centered.centered = true;
  const TestFunction rastrigin = test_function(TestFunctionKind::rastrigin, 33);
  const TestFunction rosenbrock = test_function(TestFunctionKind::rosenbrock, 600);
  SamplingTarget funnel;
  funnel.kind = SamplingTargetKind::funnel;
  funnel.n = 7;
  return {
      {"eight schools", make_chains(EightSchools{}, replicas, 1, 0.15, leapfrogs)},
      {"eight schools, centered", make_chains(centered, replicas, 0.5, 0.1, leapfrogs)},
      {"sphere of 1", spheres(1, replicas, 0.3, leapfrogs)},
      {"funnel of 7", make_chains(funnel, replicas, 0.5, 0.1, leapfrogs)},
      {"rastrigin of 33", make_chains(rastrigin, replicas, 1, 0.02, leapfrogs)},
      {"rosenbrock of 600", make_chains(rosenbrock, replicas, 0.3, 0.005, leapfrogs)},
  };
}

void temper(ChainInputs& in) {
  in.beta = {1, 0.5, 0.25, 1, 0.7, 0};
  in.lambda = {1, 1, 0.5, 0, 0.3, 1};
  const HmcTuning first = in.tuning[0];
  in.tuning.assign(in.beta.size(), first);
  for (std::size_t k = 0; k < in.tuning.size(); ++k) {
    in.tuning[k].step_size *= 1 + 0.1 * static_cast<double>(k);
    in.tuning[k].leapfrogs += static_cast<std::int32_t>(k);
  }
  in.rung_of.clear();
  for (std::int64_t r = 0; r < in.replicas; ++r) {
    in.rung_of.push_back(static_cast<std::int32_t>(r % 6));
  }
}

ChainInputs half_line(std::int64_t replicas) {
  EightSchools prior;
  for (double& sigma : prior.sigma) sigma = 1e200;
  ChainInputs in = make_chains(prior, replicas, 1, 0.5, 5);
  for (std::int64_t r = 0; r < replicas; ++r) in.position[idx(9 * replicas + r)] = 356.4;
  return in;
}

HostMetric powers_of_two(MetricKind kind, int dimension) {
  constexpr double powers[] = {1, 0.5, 2, 1};
  std::vector<double> scale;
  for (int i = 0; i < dimension; ++i) scale.push_back(powers[i % 4]);
  if (kind == MetricKind::diagonal) return diagonal_metric(scale);
  if (kind == MetricKind::dense) {
    std::vector<double> factor(idx(dimension * dimension), 0.0);
    for (int i = 0; i < dimension; ++i) factor[idx(i * dimension + i)] = scale[idx(i)];
    return dense_metric(std::move(factor));
  }
  // diag(s) with the directions of the coordinates 1 and 2 stretched by (1 + stretch).
  HostMetric metric;
  metric.kind = MetricKind::low_rank;
  metric.rank = 2;
  metric.scale.assign(idx(dimension), 1.0);
  for (int i = 3; i < dimension; ++i) metric.scale[idx(i)] = scale[idx(i)];
  metric.factor.assign(idx(2 * dimension), 0.0);
  metric.factor[1] = 1;
  metric.factor[idx(dimension + 2)] = 1;
  metric.stretch = {-0.5, 1};
  return metric;
}

}  // namespace kiln::test
