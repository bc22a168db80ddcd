// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// psi(1), ..., psi(n), the logarithmic derivatives of the gamma function at integers: sums
/// -gamma + 1 + 1/2 + ... + 1/(i - 1), each within one unit in the last place. math::digamma()
/// takes reals.
KILN_API std::vector<double> digamma_of_integers(std::int64_t n);

}  // namespace kiln
