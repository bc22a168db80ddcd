// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <vector>

namespace kiln::cli {

/// 0 .. n - 1 by value; equal values in a random order. NaN stays NaN.
std::vector<double> ranks_of(const std::vector<double>& values, std::mt19937_64& random);

}  // namespace kiln::cli
