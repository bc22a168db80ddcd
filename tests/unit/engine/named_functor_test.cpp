// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A density of a plug-in, by value in a kernel, as the densities that come with Kiln are.
#include "kiln/named_functor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/objectives/density_kernels_impl.hpp"

#include "backends/cpu_queue.hpp"

namespace plug_in {

/// factor x^2 for one coordinate.
struct Parabola {
  static constexpr const char* name = "test.parabola";
  static constexpr int fixed_dimension = 1;
  double factor = 1;

  int dimension() const { return 1; }
  int workspace() const { return 0; }
  template <kiln::Want want, class Team>
  kiln::EnergyParts evaluate(const Team&, const kiln::DensityPoint& at) const {
    if constexpr (kiln::wants_gradient(want)) at.gradient[0] = 2 * factor * at.x[0];
    return {0, factor * at.x[0] * at.x[0]};
  }
};

}  // namespace plug_in

namespace kiln::test::named_functor_test {
namespace {

using plug_in::Parabola;

/// The energies at -1, 2 and 3.
std::vector<double> energies(Queue& queue, const DensityRef& density) {
  DeviceArray<double> position(queue, {-1, 2, 3}), energy(queue, 3);
  DensityEnergy kernel;
  kernel.density = density;
  kernel.position = {position.data(), 1, 3, 3};
  kernel.replicas = 3;
  kernel.energy = energy.view();
  queue.launch(kernel);
  return energy.download();
}

TEST(NamedFunctor, OfAPlugInGoesThroughTheQueue) {
  const OpenedBackend opened = open_backend("cpu", 1);
  opened.backend->add_functor<Parabola>(cpu_density_kernels<Parabola>());
  const std::unique_ptr<Queue> queue = opened.backend->make_queue();
  const Counters before = queue->counters();
  EXPECT_EQ(energies(*queue, DensityRef(Parabola{10})), (std::vector<double>{10, 40, 90}));
  EXPECT_EQ((queue->counters() - before).launches, 1u);
}

TEST(NamedFunctor, IsRefusedByABackendThatDoesNotKnowItsType) {
  const OpenedBackend opened = open_backend("cpu", 1);
  const std::unique_ptr<Queue> earlier = opened.backend->make_queue();
  const auto launch = [](Queue& queue) { energies(queue, DensityRef(Parabola{})); };
  EXPECT_EQ(code_of([&] { launch(*earlier); }), "kernel.functor_missing");
  opened.backend->add_functor<Parabola>(cpu_density_kernels<Parabola>());
  EXPECT_EQ(code_of([&] { launch(*earlier); }), "kernel.functor_missing") << "runs do not change";
  EXPECT_EQ(code_of([&] { launch(*opened.backend->make_queue()); }), "accepted");
  EXPECT_EQ(code_of([&] { energies(*earlier, DensityRef{}); }), "kernel.functor_missing");
  EXPECT_EQ(
      code_of([&] { opened.backend->add_functor<Parabola>(cpu_density_kernels<Parabola>()); }),
      "kernel.component_known");
}

TEST(NamedFunctor, IsNumberedByFamilyAndName) {
  EXPECT_EQ(functor_number("density", "test.parabola"), DensityRef::number_of<Parabola>());
  EXPECT_NE(functor_number("vector function", "test.parabola"), DensityRef(Parabola{}).number());
  EXPECT_EQ(DensityRef{}.number(), DensityRef::none);
}

}  // namespace
}  // namespace kiln::test::named_functor_test
