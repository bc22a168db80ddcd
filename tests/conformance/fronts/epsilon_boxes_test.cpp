// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/epsilon_boxes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Exact arithmetic.
KILN_CONFORMANCE_CASE(EpsilonBoxes, exact)

namespace kiln::test::epsilon_boxes_test {
namespace {

class EpsilonBoxesKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(EpsilonBoxesKernel);

std::vector<double> boxes_of(Queue& queue, const std::vector<double>& values,
                             const std::vector<double>& epsilon, const RunControl& state = {}) {
  const auto rows = static_cast<std::int64_t>(epsilon.size());
  const auto columns = static_cast<std::int64_t>(values.size()) / rows;
  const DeviceArray<double> value(queue, values), sides(queue, epsilon);
  DeviceArray<double> box(queue, std::vector<double>(values.size(), -7));
  const auto control = upload_control(queue, state);
  queue.launch(EpsilonBoxes{{value.data(), rows, columns, columns},
                            sides.view(),
                            {box.data(), rows, columns, columns},
                            control.data()});
  return box.download();
}

TEST_P(EpsilonBoxesKernel, IsTheFloorOfTheQuotient) {
  TestRandom random(3);
  std::vector<double> values;
  for (int i = 0; i < 2 * 999; ++i) values.push_back(200 * random.unit() - 100);
  const std::vector<double> box = boxes_of(queue(), values, {0.1, 7});
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(box[i], std::floor(values[i] / (i < 999 ? 0.1 : 7.0))) << values[i];
  }
}

TEST_P(EpsilonBoxesKernel, BordersSignsAndWhatIsNotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> box =
      boxes_of(queue(), {0, 0.5, 1, -0.5, -1, -1e-300, 1e300, inf, -inf, std::nan("")}, {0.5});
  const std::vector<double> expected{0, 1, 2, -1, -2, -1, 2e300, inf, -inf};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(box[i], expected[i]) << i;
  EXPECT_TRUE(std::isnan(box[9]));
}

TEST_P(EpsilonBoxesKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  EXPECT_EQ(boxes_of(queue(), {3, 4}, {1}, stopped), (std::vector<double>{-7, -7}));
}

}  // namespace
}  // namespace kiln::test::epsilon_boxes_test
