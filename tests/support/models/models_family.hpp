// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/problems/pairwise_family.hpp"

#include "models/models.hpp"

namespace kiln::test {

/// A family of two models over the same spins; missing fields are zeros.
inline PairwiseFamily family_of(Ising base, Ising term, double target = 1) {
  PairwiseFamily family{std::move(base), std::move(term), target, 0};
  problems::canonicalize(family.base);
  problems::canonicalize(family.term);
  return family;
}

/// Sparse, with fields and couplings in both models, which share some pairs and not others.
/// `unit` 1 makes integers.
inline PairwiseFamily random_family(std::int32_t n, double unit, std::uint64_t seed,
                                    double target = 1) {
  const auto numbers = [&](std::uint64_t of) {
    return one_of({-2 * unit, -unit, unit, 3 * unit}, seed + of);
  };
  return family_of(sparse(n, 4, numbers(1), numbers(2), seed + 5),
                   sparse(n, 3, numbers(3), numbers(4), seed + 6), target);
}

}  // namespace kiln::test
