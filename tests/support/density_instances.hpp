// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kiln/densities/all.hpp"

namespace kiln::test {

/// A density of the catalogue that can be evaluated on the host, and where its tests look.
template <class Density>
struct DensityInstance {
  std::string name;
  Density density;
  double spread = 1;                  ///< of random points about 0 at which it is tried
  std::shared_ptr<const void> owner;  ///< of what the density points to; may be empty
};

/// What is tried of each density. The general form is the density as it is made by default; one
/// that has no dimension then, because its data come from outside, needs a form of its own here.
template <class Density>
struct DensityInstances {
  static std::vector<DensityInstance<Density>> all() { return {{"as made by default", {}, 1, {}}}; }
};

template <>
struct DensityInstances<TestFunction> {
  static std::vector<DensityInstance<TestFunction>> all() {
    std::vector<DensityInstance<TestFunction>> instances;
    for (const TestFunctionKind kind :
         {TestFunctionKind::sphere, TestFunctionKind::rosenbrock, TestFunctionKind::rastrigin}) {
      for (const int n : {1, 2, 7, 40}) {
        TestFunction f;
        f.kind = kind;
        f.n = n;
        instances.push_back(
            {"kind " + std::to_string(static_cast<int>(kind)) + " of " + std::to_string(n),
             f,
             2,
             {}});
      }
    }
    return instances;
  }
};

template <>
struct DensityInstances<EightSchools> {
  static std::vector<DensityInstance<EightSchools>> all() {
    EightSchools centered;
    centered.centered = true;
    return {{"not centered", {}, 2, {}}, {"centered", centered, 2, {}}};
  }
};

}  // namespace kiln::test
