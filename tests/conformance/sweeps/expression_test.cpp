// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs of formulas on every backend, in every layout of threads, against the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/kernels/sweeps/density_energy.hpp"

#include "backends/backends.hpp"
#include "densities/chains_cases.hpp"
#include "densities/expression_source.hpp"

namespace kiln::test::expression_test {
namespace {

struct Formula {
  const char* text;
  std::vector<problems::ExpressionVariable> variables;
};

// Fewer terms than threads and more; segments of many lengths; products with a zero, at t = 0.
std::vector<Formula> formulas() {
  const problems::ExpressionVariable y{"y", {}}, x{"x", {5}}, m{"m", {3, 5}}, z{"z", {300}};
  return {
      {"y^2 - 3*y", {y}},
      {"sum(i=1..4, 100*(x[i+1]-x[i]^2)^2 + (1-x[i])^2)", {x}},
      {"sum(i=1..299, 100*(z[i+1]-z[i]^2)^2 + (1-z[i])^2)", {z}},
      {"sum(i=1..3, (sum(j=1..5, m[i,j]*x[j]) - i)^2) + exp(-y)", {x, y, m}},
      {"sum(i=1..300, (sum(j=i..300, z[j]) / i)^2)", {z}},
      {"prod(i=1..5, 1 + x[i]) * tanh(y) + prod(i=1..3, y*(i-2))", {x, y}},
      {"sum(i=1..12, prod(j=1..i, 1 + x[1]/j) * sin(i*y)) + sum(j=2..5, x[j]^2)", {x, y}},
      {"max(y, x[1], 0.1) - min(x[2], y^3) + atan2(x[3], 2+y) + abs(x[4])^2.5 + sign(x[5])",
       {x, y}},
      {"log1p(y^2) + sqrt(1+x[1]^2) + sinh(x[2]) + cosh(x[3]) + atan(x[4]) + tan(x[5]/9)", {x, y}},
      {"asin(y/9) + acos(x[1]/9) + expm1(x[2]) + log(9+x[3]) + (9+x[4])^(x[5]/2)", {x, y}},
  };
}

struct Outputs {
  std::vector<double> energy, gradient;
};

Outputs run(Queue& queue, const ExpressionSource& source, const std::vector<double>& x,
            std::int64_t replicas, ChainLayout layout) {
  const std::int64_t d = source.dimension(), slots = (replicas + 31) / 32 * 32;
  std::vector<double> places(idx(d * slots), 0.0);
  for (std::int64_t i = 0; i < d; ++i) {
    for (std::int64_t r = 0; r < replicas; ++r) places[idx(i * slots + r)] = x[idx(r * d + i)];
  }
  DeviceArray<double> position(queue, places), energy(queue, std::vector<double>(idx(slots))),
      gradient(queue, std::vector<double>(idx(d * slots))),
      scratch(queue, slots * DensityEnergy::scratch_size(d, source.workspace()));
  DeviceArray<std::int32_t> rung_of(queue, std::vector<std::int32_t>(idx(slots), 0));
  const std::unique_ptr<BoundDensity> bound = source.bind(queue);
  DensityEnergy kernel;
  kernel.position = {position.data(), d, slots, slots};
  kernel.replicas = replicas;
  kernel.energy = energy.view();
  kernel.gradient = {gradient.data(), d, slots, slots};
  kernel.rung_of = rung_of.view();
  kernel.layout = layout;
  kernel.scratch = scratch.view();
  bound->run(kernel, queue);
  return {energy.download(), gradient.download()};
}

class ExpressionDensity : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ExpressionDensity);

TEST_P(ExpressionDensity, HasTheEnergiesAndGradientsOfTheHost) {
  constexpr std::int64_t replicas = 33;
  for (const Formula& formula : formulas()) {
    const auto source = expression_source(formula.text, formula.variables);
    const std::int64_t d = source->dimension(), slots = 64;
    const std::vector<double> x = normal_positions(static_cast<int>(d), replicas, 0.7, 7);
    for (const ChainLayout layout : all_layouts) {
      SCOPED_TRACE(std::string(formula.text) + ", " + to_string(layout));
      const Outputs out = run(queue(), *source, x, replicas, layout);
      std::vector<double> slope(idx(d));
      for (std::int64_t r = 0; r < replicas; ++r) {
        const double energy =
            source->evaluate(std::span(x).subspan(idx(r * d), idx(d)), slope).total();
        const double size = std::max(1.0, std::abs(energy));
        EXPECT_NEAR(out.energy[idx(r)], energy, 1e-12 * size);
        const double steepest =
            std::abs(*std::ranges::max_element(slope, {}, [](double s) { return std::abs(s); }));
        for (std::int64_t i = 0; i < d; ++i) {
          EXPECT_NEAR(out.gradient[idx(i * slots + r)], slope[idx(i)],
                      1e-11 * std::max(1.0, steepest));
        }
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::expression_test
