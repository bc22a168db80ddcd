// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What `kiln doctor --kernels` finds: planted kernels that are wrong, and none that is right.
#include "twins/twin_queue.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "kiln/backend.hpp"

#include "twins/difference.hpp"

namespace kiln::test::twin_queue_test {
namespace {

using cli::Difference;
using cli::difference_of;
using cli::ForwardingQueue;
using cli::TwinLaunch;
using cli::TwinQueue;

template <class T>
Difference difference(const std::vector<T>& a, const std::vector<T>& b) {
  return difference_of(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

TEST(TwinDifference, CountsWordsAndComparesNumbers) {
  EXPECT_EQ(difference<double>({1, 2, 3}, {1, 2, 3}).unequal, 0u);
  const Difference one = difference<double>({1, 2, 4}, {1, 2 + 4e-9, 4});
  EXPECT_EQ(one.words, 3u);
  EXPECT_EQ(one.unequal, 1u);
  EXPECT_NEAR(one.worst, 1e-9, 1e-12);
  EXPECT_EQ(difference<float>({1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}).unequal, 1u) << "half a word";
}

TEST(TwinDifference, CountsAndBitsAreNoNumbers) {
  const double none = std::numeric_limits<double>::infinity();
  EXPECT_EQ(difference<std::int64_t>({1, 2, 3}, {1, 2, 4}).worst, none);
  EXPECT_EQ(difference<std::uint32_t>({1, 2, 3}, {1, 2, 4}).worst, none);
  EXPECT_EQ(difference<double>({1, 2}, {1, none}).worst, none);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(difference<double>({nan, 1}, {-nan, 1}).unequal, 0u) << "NaN has no sign";
  EXPECT_GT(difference<double>({nan, 1}, {2, 1}).worst, 1e300);
}

/// How a device goes wrong.
enum class Fault { none, one_bit, twice, stray_write, scratch };
Fault planted = Fault::none;

/// Launchers of a CPU, one of which is wrong.
struct PlantedLaunchers {
  template <class Kernel>
  static void launch(const Kernel& kernel, Queue& queue) {
    Queue& device = static_cast<ForwardingQueue&>(queue).device();
    device.launch(kernel);
    if constexpr (std::is_same_v<Kernel, Axpby>) {
      if (planted == Fault::one_bit) kernel.y[3] = std::nextafter(kernel.y[3], 1e300);
      if (planted == Fault::twice) device.launch(kernel);
      if (planted == Fault::stray_write) const_cast<double&>(kernel.x[0]) += 1;
      if (planted == Fault::scratch) std::memset(kernel.room.data, 7, kernel.room.size);
    }
  }
  template <class Kernel>
  static constexpr Launcher<Kernel> launcher = &launch<Kernel>;
};

class Twins : public testing::Test {
 protected:
  ~Twins() override { planted = Fault::none; }

  /// y = 2 x + y on both devices, of which one has the fault.
  TwinLaunch launch(Fault fault) {
    planted = fault;
    TwinQueue twins(device_, *cpu_);
    const DeviceArray<double> x(twins, std::vector<double>(100, 3));
    DeviceArray<double> y(twins, std::vector<double>(100, 4)), unrelated(twins, 100);
    DeviceArray<std::byte> room(twins, 64);
    Axpby kernel;
    kernel.x = x.view();
    kernel.y = y.view();
    kernel.room = room.view();
    kernel.alpha = 2;
    kernel.beta = 1;
    twins.launch(kernel);  // not compared
    const std::vector<TwinLaunch> launches =
        twins.compare("axpby", 1, [&] { twins.launch(kernel); });
    EXPECT_EQ(launches.size(), 1u);
    if (fault == Fault::none) {
      EXPECT_EQ(y.download(), std::vector<double>(100, 16));
    }
    return launches.at(0);
  }

  std::unique_ptr<Queue> cpu_ = open_backend("cpu", 1).backend->make_queue();
  std::unique_ptr<Queue> other_ = open_backend("cpu", 1).backend->make_queue();
  ForwardingQueue device_{kernel_sets_of<PlantedLaunchers>(Components{}), *other_};
};

TEST_F(Twins, TheTwinGetsTheModelOfTheCpu) {
  cli::ModelQueue models(*cpu_);
  MetropolisSweep on_cpu, on_device;
  on_device.step_offset = 9;
  EXPECT_FALSE(models.give_model(on_device));
  on_cpu.model.n_sites = 5;
  models.keep(on_cpu);
  EXPECT_TRUE(models.give_model(on_device));
  EXPECT_EQ(on_device.model.n_sites, 5);
  EXPECT_EQ(on_device.step_offset, 9u) << "all else stays";
  LadderTick tick, tick_on_cpu;
  tick_on_cpu.sweep.model.n_sites = 7;
  models.keep(tick_on_cpu);
  EXPECT_TRUE(models.give_model(tick));
  EXPECT_EQ(tick.sweep.model.n_sites, 7);
}

TEST_F(Twins, AKernelThatIsRightIsEqual) {
  const TwinLaunch right = launch(Fault::none);
  EXPECT_EQ(right.kernel, "axpby");
  EXPECT_EQ(right.accuracy, "E");
  EXPECT_EQ(right.written, 100u);
  EXPECT_EQ(right.difference.unequal, 0u);
  EXPECT_GE(right.difference.words, 200u) << "what it reads, too";
}

TEST_F(Twins, AKernelThatIsWrongIsFound) {
  EXPECT_EQ(launch(Fault::one_bit).difference.unequal, 1u);
  EXPECT_EQ(launch(Fault::twice).difference.unequal, 100u);
}

TEST_F(Twins, AKernelThatWritesWhereItReadsIsFound) {
  EXPECT_EQ(launch(Fault::stray_write).difference.unequal, 1u);
}

TEST_F(Twins, ScratchMayHoldAnything) { EXPECT_EQ(launch(Fault::scratch).difference.unequal, 0u); }

}  // namespace
}  // namespace kiln::test::twin_queue_test
