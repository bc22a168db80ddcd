// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include "inverted_rule.cuh"

/// The decisions of a family A + lambda B in single precision, for a slot and the energy changes of
/// both models.
namespace kiln::cuda {
namespace {

// Betas beyond this one, infinity above all, are replaced by it.
constexpr double coldest_estimate = 1e25;

// What estimates need to know of a slot. A NaN leaves all of its decisions to the exact rule.
struct MemberEstimate {
  float base = 0, term = 0;  // beta log2 e, and lambda times that
  float error = 0;           // of an exponent, relative to the sizes of both of its terms
  float unused = 0;

  // Errors: beta, lambda, both changes, products and their sum are rounded, by 2^-24 each. A
  // coldest_estimate stands for larger betas where neither term cancels half of the other, because
  // terms are 0 or at least 100.
  __device__ static MemberEstimate of(const PairwiseFamilySweep& kernel, std::int64_t slot) {
    const double beta = kernel.beta_of(slot), lambda = kernel.parameter_of(slot);
    const bool cold = beta > coldest_estimate;
    const double base = (cold ? coldest_estimate : beta) * 1.4426950408889634;
    const double term = base * lambda, size = fabs(term);
    const bool has_term = lambda != 0 && base != 0;
    const double smallest = cold ? 1e-3 * coldest_estimate : 1e-30;
    const bool valid = (base == 0 || base >= 1e-30) && (!has_term || size >= smallest);
    MemberEstimate estimate;
    estimate.base = valid ? static_cast<float>(base) : __uint_as_float(0x7FFFFFFFu);
    estimate.term = has_term ? static_cast<float>(term) : 0.0f;
    estimate.error = cold ? 0.5f : 0x1p-20f;
    return estimate;
  }

  // Whether a flip that changes A and B by so much is accepted.
  template <SweepRule kRule>
  __device__ Sure accepts(float base_change, float term_change, std::uint32_t word) const {
    const float x = base * base_change, y = term * term_change;
    const float size = fabsf(x) + fabsf(y);
    return compare_exponent<kRule>(x + y, fmaf(error, size, exponent_margin<kRule>), word);
  }
};

// A change of A or B for estimates: 0, or of a size that single precision holds; else NaN.
__device__ inline float family_estimate(double change) {
  const double size = fabs(change);
  const bool valid = (size >= 1e-20 && size <= 1e30) || size == 0;
  return valid ? static_cast<float>(change) : __uint_as_float(0x7FFFFFFFu);
}

}  // namespace
}  // namespace kiln::cuda
