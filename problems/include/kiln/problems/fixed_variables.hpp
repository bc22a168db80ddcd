// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/ising.hpp"
#include "kiln/problems/model.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/qubo.hpp"

namespace kiln {

/// A variable, from 0, and the value that it keeps: 0 or 1 of a QUBO and of the sides of a cut, -1
/// or +1 of an Ising model.
struct FixedVariable {
  std::int32_t variable = 0;
  std::int8_t value = 0;
  friend bool operator==(const FixedVariable&, const FixedVariable&) = default;
};

namespace problems {

/// The function of the other variables, in their order: terms with one fixed variable become
/// linear, terms of fixed ones a part of the offset. Sums of integers are exact.
///
/// @return a function in canonical form, with as many variables as are not fixed, also none.
/// @throws InvalidArgument `problem.fixed` for a variable that does not exist or is fixed twice, or
///   a value that it cannot have; as canonicalize() does.
/// @par Cost  O(n + m log m) for m terms.
KILN_API Qubo fix_variables(const Qubo& qubo, std::span<const FixedVariable> fixed);
KILN_API Ising fix_variables(const Ising& ising, std::span<const FixedVariable> fixed);

}  // namespace problems

/// The problem of the variables that are not fixed. Its states have only these, as bits or spins;
/// the sides of a cut are bits. Solutions are written, read, reported (SolutionFunctions::whole)
/// and verified with all variables, from the whole model.
///
/// @throws InvalidArgument `problem.fixed` as fix_variables(), for a model of more than two values,
///   and if no variable is left; as make_pairwise() does.
KILN_API Problem make_pairwise_fixed(PairwiseModel model, std::span<const FixedVariable> fixed,
                                     Sense sense, std::string name);
/// The same of a file or a generator. Its fingerprint is that of the model and of what is fixed.
KILN_API Problem make_fixed(const Model& model, std::span<const FixedVariable> fixed, Sense sense,
                            std::string name);

}  // namespace kiln
