// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "chains_cases.hpp"

namespace kiln::test {

std::vector<NamedChains> potentials_to_compare(std::int64_t replicas, std::int32_t leapfrogs) {
  EightSchools centered;
  centered.centered = true;
  using Kind = TestFunctionKind;
  return {
      {"eight schools", make_chains(EightSchools{}, replicas, 1, 0.15, leapfrogs)},
      {"eight schools, centered", make_chains(centered, replicas, 0.5, 0.1, leapfrogs)},
      {"sphere of 1", make_chains(test_function(Kind::sphere, 1), replicas, 1, 0.3, leapfrogs)},
      {"rastrigin of 33",
       make_chains(test_function(Kind::rastrigin, 33), replicas, 1, 0.02, leapfrogs)},
      {"rosenbrock of 600",
       make_chains(test_function(Kind::rosenbrock, 600), replicas, 0.3, 0.005, leapfrogs)},
  };
}

}  // namespace kiln::test
