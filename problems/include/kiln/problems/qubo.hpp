// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

class ModelKind;  // kiln/problems/model.hpp

/// The full coefficient of x_i x_j, 0-based: both halves of a symmetric matrix taken together.
struct QuboTerm {
  std::int32_t i = 0;
  std::int32_t j = 0;
  double value = 0.0;
  friend bool operator==(const QuboTerm&, const QuboTerm&) = default;
};

/// Quadratic function of n binary variables, without a sense of optimisation:
///
///     f(x) = sum_i linear[i] x_i + sum_{i<j} b_ij x_i x_j + offset,   x_i in {0, 1}.
///
/// Canonical form, made by problems::canonicalize() and by every reader: linear has n entries, i <
/// j in each quadratic term, terms sorted by (i, j), each pair once, no term of value 0.
struct Qubo {
  std::int32_t n = 0;
  std::vector<double> linear;  ///< [n]
  std::vector<QuboTerm> quadratic;
  double offset = 0.0;
  friend bool operator==(const Qubo&, const Qubo&) = default;
  KILN_API static const ModelKind& model_kind();
};

namespace problems {

/// Brings a function into canonical form: turns and sorts the quadratic terms, adds up those that
/// repeat a pair, in their order, and drops those that are 0. A term with i = j is refused and not
/// moved to `linear`, because formats disagree on its meaning.
///
/// @return how many terms were merged into another one; dropped zeros do not count.
/// @throws InvalidArgument `problem.size` if n is negative or linear has not n entries,
///   `problem.range` if a variable does not exist, `problem.self_loop` if i equals j,
///   `problem.value` if a coefficient, or a sum of repeated ones, is not finite. Terms may have
///   changed places then, nothing else.
/// @par Cost  O(n + m log m) for m terms; O(n + m) if they are in order already.
KILN_API std::int64_t canonicalize(Qubo& qubo);

/// A line `n`, then `i i a` for each linear coefficient that is not 0, then `i j b` for each
/// quadratic term, and last, only if there is one, `offset c`. Numbers as for graphs.
///
/// @throws InvalidArgument `problem.not_canonical` if the function is not in canonical form.
KILN_API std::string canonical_text(const Qubo& qubo);

/// The first 16 hexadecimal digits of the SHA-256 of canonical_text(); the text is never stored.
///
/// @throws InvalidArgument `problem.not_canonical` if the function is not in canonical form.
KILN_API std::string fingerprint(const Qubo& qubo);

}  // namespace problems
}  // namespace kiln
