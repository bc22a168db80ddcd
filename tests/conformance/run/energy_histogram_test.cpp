// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/energy_histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Exact arithmetic and counts.
KILN_CONFORMANCE_CASE(EnergyHistogram, exact)

namespace kiln::test::energy_histogram_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

class EnergyHistogramKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(EnergyHistogramKernel);

using Counts = std::vector<std::uint64_t>;

struct Energies {
  std::vector<double> energy;
  std::vector<std::int32_t> rung_of;
  std::int64_t rungs = 1, bins = 4;
  double low = 0, width = 1;
  std::int64_t padding = 0;  ///< the last slots
  RunControl control = {};
};

// Launches twice: counts go on from what is there.
Counts counts_of(Queue& queue, const Energies& in) {
  const DeviceArray<double> energy(queue, in.energy), range(queue, {in.low, 1 / in.width});
  const DeviceArray<std::int32_t> rung_of(queue, in.rung_of);
  const std::int64_t columns = in.bins + 2;
  DeviceArray<std::uint64_t> count(queue, Counts(idx(in.rungs * columns)));
  const DeviceArray<RunControl> control = upload_control(queue, in.control);
  EnergyHistogram kernel;
  kernel.energy = energy.view();
  kernel.rung_of = rung_of.view();
  kernel.range = range.view();
  kernel.count = {count.data(), in.rungs, columns, columns};
  kernel.replicas = static_cast<std::int64_t>(in.energy.size()) - in.padding;
  kernel.control = control.data();
  queue.launch(kernel);
  queue.launch(kernel);
  return count.download();
}

// By hand: bins [-2, -1.5), [-1.5, -1), [-1, -0.5), [-0.5, 0), each edge in the bin above it.
TEST_P(EnergyHistogramKernel, CountsByHand) {
  Energies in;
  in.low = -2;
  in.width = 0.5;
  in.energy = {-2, -1.75, -1.5, -1,        -0.75,    -0.5,         -0.25,
               0,  7,     -2.5, -infinity, infinity, not_a_number, -0x1p-52};
  in.rung_of.assign(in.energy.size(), 0);
  EXPECT_EQ(counts_of(queue(), in), (Counts{4, 4, 2, 4, 6, 8}));
  in.padding = 3;  // +infinity, NaN and the last
  EXPECT_EQ(counts_of(queue(), in), (Counts{4, 4, 2, 4, 4, 4}));
}

TEST_P(EnergyHistogramKernel, CountsEachRungByItself) {
  Energies in;
  in.rungs = 3;
  in.bins = 2;
  in.energy = {0, 1, 0, 1, 2, 0};
  in.rung_of = {2, 2, 0, 0, 0, 2};
  EXPECT_EQ(counts_of(queue(), in), (Counts{0, 2, 2, 2, /**/ 0, 0, 0, 0, /**/ 0, 4, 2, 0}));
}

// Integers and edges between them: what a bin has is known without its arithmetic. Few cells and
// more than a block has room for, fewer slots than a block and more than fill a device.
TEST_P(EnergyHistogramKernel, CountsManyIntegers) {
  for (const std::int64_t rungs : {1, 100}) {
    for (const std::int64_t slots : {1, 33, 4097, 300000}) {
      Energies in;
      in.rungs = rungs;
      in.bins = 64;
      in.low = -32.5;
      Counts expected(idx(rungs * 66));
      TestRandom random(idx(rungs + slots));
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const std::int64_t energy = random.between(-40, 40), rung = random.between(0, rungs - 1);
        in.energy.push_back(static_cast<double>(energy));
        in.rung_of.push_back(static_cast<std::int32_t>(rung));
        const std::int64_t column = energy < -32 ? 0 : energy > 31 ? 65 : energy + 33;
        expected[idx(rung * 66 + column)] += 2;
      }
      EXPECT_EQ(counts_of(queue(), in), expected) << rungs << " rungs, " << slots << " slots";
    }
  }
}

TEST_P(EnergyHistogramKernel, HasTheBitsOfTheCpuAtEdgesThatAreRounded) {
  Energies in;
  in.bins = 1000;
  in.width = 0.1;
  for (int i = 0; i < 3000; ++i) {
    const double edge = 0.1 * (i / 3);
    in.energy.push_back(i % 3 == 0 ? edge : std::nextafter(edge, i % 3 == 1 ? -1.0 : 1e9));
  }
  in.rung_of.assign(in.energy.size(), 0);
  EXPECT_EQ(counts_of(queue(), in), counts_of(cpu_queue(), in));
}

TEST_P(EnergyHistogramKernel, DoesNothingOnceStopped) {
  Energies in;
  in.energy = {1, 2};
  in.rung_of = {0, 0};
  in.control.stop = DeviceStop::target;
  EXPECT_EQ(counts_of(queue(), in), Counts(6));
}

}  // namespace
}  // namespace kiln::test::energy_histogram_test
