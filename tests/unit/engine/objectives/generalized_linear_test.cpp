// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/generalized_linear.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace kiln::generalized_linear_test {
namespace {

GlmForces forces_of(const std::function<double(int)>& column) {
  GlmData data;
  data.rows = 400;
  data.columns = 2;
  data.prior_scale = {1};
  for (int r = 0; r < 400; ++r) {
    data.x.push_back(1);
    data.x.push_back(column(r));
    data.y.push_back(r % 2);
  }
  return forces_for(data);
}

TEST(GlmForces, AreCoarseForDataThatSurvive11Bits) {
  EXPECT_EQ(forces_of([](int r) { return std::sin(r); }), GlmForces::tf32);
  EXPECT_EQ(forces_of([](int r) { return 1e6 * std::sin(r); }), GlmForces::tf32);
  EXPECT_EQ(forces_of([](int r) { return r % 3 == 0 ? 1.0 : 0.0; }), GlmForces::tf32);
  EXPECT_EQ(forces_of([](int r) { return 1900.0 + r % 100; }), GlmForces::tf32);  // whole years
  EXPECT_EQ(forces_of([](int) { return 0.1; }), GlmForces::tf32);
  EXPECT_EQ(forces_of([](int) { return 0.0; }), GlmForces::tf32);
}

TEST(GlmForces, AreSingleForDataThatDoNot) {
  EXPECT_EQ(forces_of([](int r) { return 1234.56 + 0.01 * (r % 100); }), GlmForces::single);
  EXPECT_EQ(forces_of([](int r) { return 1e5 + std::sin(r); }), GlmForces::single);
}

}  // namespace
}  // namespace kiln::generalized_linear_test
