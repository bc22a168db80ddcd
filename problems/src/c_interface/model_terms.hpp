// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kiln.h"
#include "kiln/problem.hpp"

namespace kiln::problems::detail {

/// The problem of a model that a C program describes by its terms.
///
/// @param sense  KILN_DEFAULT_SENSE, KILN_MINIMIZE or KILN_MAXIMIZE
/// @throws InvalidArgument `interface.struct_size`, `interface.value`, and as canonicalize() and
///   make_pairwise() do
Problem problem_of_terms(const kiln_model& model, std::int32_t sense);

}  // namespace kiln::problems::detail
