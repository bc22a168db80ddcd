// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A component of a plug-in: two kernels that Kiln does not know.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/kernels/run/advance_tick.hpp"

#include "backends/cpu_queue.hpp"

#define SMALL_KERNELS(KERNEL) KERNEL(Halve)

#define PLUG_IN_KERNELS(KERNEL) \
  KERNEL(Double)                \
  KERNEL(AddOne)

namespace plug_in {

KILN_COMPONENT(PlugInComponent, "test.plug_in", PLUG_IN_KERNELS)

KILN_COMPONENT(SmallComponent, "test.small", SMALL_KERNELS)

struct Halve {
  kiln::View1<std::int64_t> values;
};
struct Double {
  kiln::View1<std::int64_t> values;
};
struct AddOne {
  kiln::View1<std::int64_t> values;
};
struct Unlisted {};

void launch_double(const Double& kernel, kiln::Queue&) {
  for (std::int64_t i = 0; i < kernel.values.size; ++i) kernel.values[i] *= 2;
}
void launch_add_one(const AddOne& kernel, kiln::Queue&) {
  for (std::int64_t i = 0; i < kernel.values.size; ++i) ++kernel.values[i];
}

void launch_halve(const Halve& kernel, kiln::Queue&) {
  for (std::int64_t i = 0; i < kernel.values.size; ++i) kernel.values[i] /= 2;
}

kiln::KernelSet<PlugInComponent> kernel_set() {
  return kiln::KernelSet<PlugInComponent>(&launch_double, &launch_add_one);
}

}  // namespace plug_in

namespace kiln::test::kernel_set_test {
namespace {

static_assert(HasComponent<plug_in::Double> && HasComponent<AdvanceTick>);
static_assert(!HasComponent<plug_in::Unlisted>, "launch() of it does not compile");
static_assert(std::is_same_v<ComponentOf<plug_in::AddOne>, plug_in::PlugInComponent>);
static_assert(std::is_same_v<ComponentOf<AdvanceTick>, RunComponent>);

TEST(KernelSets, LaunchTheKernelsOfAPlugIn) {
  const OpenedBackend opened = open_backend("cpu", 1);
  opened.backend->add_kernels(plug_in::kernel_set());
  const std::unique_ptr<Queue> queue = opened.backend->make_queue();
  DeviceArray<std::int64_t> values(*queue, {1, 20, -300});
  const Counters before = queue->counters();
  queue->launch(plug_in::Double{values.view()});
  queue->launch(plug_in::AddOne{values.view()});
  EXPECT_EQ((queue->counters() - before).launches, 2u);
  EXPECT_EQ(values.download(), (std::vector<std::int64_t>{3, 41, -599}));
}

// As the guide does it.
TEST(KernelSets, OfOneKernelAreASetToo) {
  const OpenedBackend opened = open_backend("cpu", 1);
  opened.backend->add_kernels(kiln::KernelSet<plug_in::SmallComponent>(&plug_in::launch_halve));
  const std::unique_ptr<Queue> queue = opened.backend->make_queue();
  DeviceArray<std::int64_t> values(*queue, {8, -6});
  queue->launch(plug_in::Halve{values.view()});
  EXPECT_EQ(values.download(), (std::vector<std::int64_t>{4, -3}));
}

TEST(KernelSets, RefuseAKernelWhoseComponentWasNotAdded) {
  const OpenedBackend opened = open_backend("cpu", 1);
  const std::unique_ptr<Queue> earlier = opened.backend->make_queue();
  const auto launch = [](Queue& queue) { queue.launch(plug_in::AddOne{}); };
  EXPECT_EQ(code_of([&] { launch(*earlier); }), "kernel.component_missing");
  opened.backend->add_kernels(plug_in::kernel_set());
  EXPECT_EQ(code_of([&] { launch(*earlier); }), "kernel.component_missing") << "runs do not change";
  EXPECT_EQ(code_of([&] { launch(*opened.backend->make_queue()); }), "accepted");
  const OpenedBackend other = open_backend("cpu", 1);
  EXPECT_EQ(code_of([&] { launch(*other.backend->make_queue()); }), "kernel.component_missing");
}

TEST(KernelSets, RefuseAComponentThatIsThere) {
  const OpenedBackend opened = open_backend("cpu", 1);
  opened.backend->add_kernels(plug_in::kernel_set());
  EXPECT_EQ(code_of([&] { opened.backend->add_kernels(plug_in::kernel_set()); }),
            "kernel.component_known");
}

TEST(KernelSets, NumberComponentsByName) {
  const std::string copy = std::string("test.plug") + "_in";
  EXPECT_EQ(component_number(copy), component_number(plug_in::PlugInComponent::name));
  EXPECT_NE(component_number(copy), component_number(RunComponent::name));
}

}  // namespace
}  // namespace kiln::test::kernel_set_test
