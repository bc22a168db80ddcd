// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kiln/device/vector_function.hpp"

namespace kiln::test {

using Values = std::vector<double>;

struct Evaluated {
  Values f, g;
};

/// Objectives and constraints at plain values.
template <class Function>
Evaluated evaluate(const Function& function, const Values& x) {
  Evaluated value{Values(static_cast<std::size_t>(function.objectives()), -77.0),
                  Values(static_cast<std::size_t>(function.constraints()), -77.0)};
  function(ValuesPoint{x.data()}, value.f.data(), value.g.data());
  return value;
}

template <class Function>
Values objectives_at(const Function& function, const Values& x) {
  return evaluate(function, x).f;
}

inline void expect_near(const Values& values, const Values& expected, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << ", value " << i + 1;
  }
}

inline Values random_point(std::mt19937_64& random, int n) {
  Values x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<double>(random() >> 11) * 0x1p-53);
  return x;
}

inline double sum_of(const Values& v) {
  double sum = 0;
  for (const double value : v) sum += value;
  return sum;
}

inline double squares_of(const Values& v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return sum;
}

}  // namespace kiln::test
