// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/mask_nonfinite.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Comparisons and counts.
KILN_CONFORMANCE_CASE(MaskNonfinite, exact)

namespace kiln::test::mask_nonfinite_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

class MaskNonfiniteKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(MaskNonfiniteKernel);

struct Admitted {
  std::vector<double> energy;  ///< [candidate][slot], unused values between the rows
  std::vector<std::uint64_t> not_finite;
};

Admitted run(Queue& queue, const Admitted& in, std::int64_t candidates, std::int64_t slots,
             const RunControl& state = {}) {
  DeviceArray<double> energy(queue, in.energy);
  DeviceArray<std::uint64_t> not_finite(queue, in.not_finite);
  const DeviceArray<RunControl> control = upload_control(queue, state);
  const std::int64_t stride = static_cast<std::int64_t>(in.energy.size()) / candidates;
  queue.launch(MaskNonfinite{
      {energy.data(), candidates, slots, stride}, not_finite.view(), control.data(), 0});
  return {energy.download(), not_finite.download()};
}

TEST_P(MaskNonfiniteKernel, MakesWhatIsNotFiniteInfiniteAndCountsIt) {
  const double odd[] = {not_a_number, infinity, -infinity, -not_a_number};
  for (const std::int64_t slots : {1, 32, 257}) {
    for (const std::int64_t candidates : {1, 2, 64}) {
      const std::int64_t stride = slots + 3;
      Admitted in{std::vector<double>(idx(candidates * stride), -infinity),
                  std::vector<std::uint64_t>(idx(slots), 4)};
      Admitted expected = in;
      TestRandom random(idx(slots * candidates));
      for (std::int64_t c = 0; c < candidates; ++c) {
        for (std::int64_t slot = 0; slot < slots; ++slot) {
          const std::int64_t which = random.between(0, 9);
          const std::size_t at = idx(c * stride + slot);
          in.energy[at] = which < 4 ? odd[which] : std::ldexp(random.unit() - 0.5, 1000);
          expected.energy[at] = which < 4 ? infinity : in.energy[at];
          if (which < 4) ++expected.not_finite[idx(slot)];
        }
      }
      const Admitted out = run(queue(), in, candidates, slots);
      EXPECT_EQ(bits_of(out.energy), bits_of(expected.energy));
      EXPECT_EQ(out.not_finite, expected.not_finite);
    }
  }
}

TEST_P(MaskNonfiniteKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Admitted out = run(queue(), {{not_a_number, 1}, {0, 0}}, 1, 2, stopped);
  EXPECT_TRUE(std::isnan(out.energy[0]));
  EXPECT_EQ(out.not_finite, (std::vector<std::uint64_t>{0, 0}));
}

}  // namespace
}  // namespace kiln::test::mask_nonfinite_test
