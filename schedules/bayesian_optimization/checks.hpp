// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"

#include "encoding.hpp"

namespace kiln {

/// @throws InvalidArgument with every complaint about the options.
void check_options(const BayesianOptimizationOptions& options);

/// The options with what "automatic" stands for: in trust regions functions drawn from rougher
/// models, elsewhere improvements on smooth ones, beside whatever pending points turn out to be;
/// where all variables have levels, on rougher ones.
BayesianOptimizationOptions resolved(BayesianOptimizationOptions options, const Encoding& encoding,
                                     int objectives);

/// The keys of the draws of studies: those of the groups of a run of this seed.
std::vector<std::uint64_t> keys_of_groups(std::uint64_t seed, std::int64_t studies);

}  // namespace kiln
