// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Every density of the catalogue against difference quotients of its own energy, for both parts and
// several weights, at random points. A new density of the catalogue is tried at once, or fails
// until it has data in tests/support/densities/density_instances.hpp.
#include <gtest/gtest.h>

#include <cmath>

#include "kiln/objectives/gradient_check.hpp"

#include "backends/backends.hpp"
#include "densities/chains.hpp"
#include "densities/density_instances.hpp"

namespace kiln::test::gradients_test {
namespace {

constexpr double tolerance = 1e-6;
constexpr PartWeights weights_to_try[] = {{1, 1}, {1, 0}, {0, 1}, {0.7, 0.21}};

template <class Density>
EnergyParts evaluate(const Density& density, std::span<const double> x, PartWeights weights,
                     std::span<double> gradient) {
  std::vector<double> work(idx(density.workspace()), std::nan(""));
  const DensityPoint at{x.data(), weights, gradient.empty() ? nullptr : gradient.data(),
                        work.data()};
  return gradient.empty() ? density.template evaluate<Want::energy>(SingleTeam{}, at)
                          : density.template evaluate<Want::both>(SingleTeam{}, at);
}

template <class Density>
void expect_right_gradient(const Density& density, const std::vector<double>& x,
                           PartWeights weights) {
  const GradientCheck check = check_gradient(
      [&](std::span<const double> at, std::span<double> gradient) {
        return weights(evaluate(density, at, weights, gradient));
      },
      x);
  EXPECT_TRUE(check.agrees(tolerance)) << check.text(tolerance);
  EXPECT_LT(check.resolution, tolerance) << "the differences are too coarse to judge it";
}

/// A gradient asked for alone has the bits of that which comes with the energy, and the energy does
/// not depend on the weights.
template <class Density>
void expect_same_however_asked(const Density& density, const std::vector<double>& x) {
  const PartWeights weights{0.7, 0.21};
  std::vector<double> both(x.size()), alone(x.size(), std::nan(""));
  std::vector<double> work(idx(density.workspace()), std::nan(""));
  const EnergyParts with = evaluate(density, x, weights, both);
  density.template evaluate<Want::gradient>(
      SingleTeam{}, DensityPoint{x.data(), weights, alone.data(), work.data()});
  EXPECT_EQ(bits_of(alone), bits_of(both));
  const EnergyParts without = evaluate(density, x, {1, 1}, {});
  EXPECT_NEAR(with.base, without.base, 1e-12 * (1 + std::abs(without.base)));
  EXPECT_NEAR(with.term, without.term, 1e-12 * (1 + std::abs(without.term)));
}

template <class Density>
class DensityOfCatalogue : public testing::Test {};

template <class... Densities>
struct TypesOf {
  using type = testing::Types<Densities...>;
};
// The list begins with a comma, after a type that stands for none.
struct NoDensity {};
template <class First, class... Densities>
struct Rest : TypesOf<Densities...> {};
#define KILN_TYPE(type) , type
using AllDensities = Rest<NoDensity KILN_DENSITIES(KILN_TYPE)>::type;
#undef KILN_TYPE
TYPED_TEST_SUITE(DensityOfCatalogue, AllDensities);

TYPED_TEST(DensityOfCatalogue, HasTheGradientOfItsEnergy) {
  const auto instances = DensityInstances<TypeParam>::all();
  ASSERT_FALSE(instances.empty());
  for (const auto& instance : instances) {
    SCOPED_TRACE(instance.name);
    const int d = dimension_of(instance.density);
    ASSERT_GT(d, 0) << "a density without data has no dimension: give it a form of its own in "
                       "tests/support/densities/density_instances.hpp";
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const std::vector<double> x = normal_positions(d, 1, instance.spread, seed);
      for (const PartWeights& weights : weights_to_try) {
        SCOPED_TRACE("point " + std::to_string(seed) + ", weights " + std::to_string(weights.base) +
                     " and " + std::to_string(weights.term));
        expect_right_gradient(instance.density, x, weights);
      }
      expect_same_however_asked(instance.density, x);
    }
  }
}

}  // namespace
}  // namespace kiln::test::gradients_test
