// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problems/graph.hpp"

namespace kiln {

class ModelKind;  // kiln/problems/model.hpp

/// E(s) = offset + sum_i h_i s_i + sum_{u<v} J_uv s_u s_v, s = -1 or +1, minimised.
///
/// Canonical form, made by problems::canonicalize() and by every reader and generator: fields has n
/// entries, u < v in each coupling, couplings sorted by (u, v), each pair once, no coupling of
/// weight 0.
struct Ising {
  std::int32_t n = 0;
  std::vector<double> fields;   ///< [n]
  std::vector<Edge> couplings;  ///< u < v, each pair once
  double offset = 0;
  friend bool operator==(const Ising&, const Ising&) = default;
  KILN_API static const ModelKind& model_kind();
};

namespace problems {

/// Brings a model into canonical form, as for Graph and Qubo; a model without fields gets n zeros.
///
/// @return how many couplings were merged into another one; dropped zeros do not count.
/// @throws InvalidArgument `problem.size` if n is negative or fields has neither n entries nor
///   none, `problem.range`, `problem.self_loop` or `problem.value` for a coupling or a coefficient
///   that cannot be. Couplings may have changed places then, nothing else.
/// @par Cost  O(n + m log m) for m couplings; O(n + m) if they are in order already.
KILN_API std::int64_t canonicalize(Ising& ising);

/// A line `spin n`, then `i i h` for each field that is not 0, then `i j J` for each coupling, and
/// last, only if there is one, `offset c`. The first word keeps it apart from a Qubo of the same
/// coefficients.
///
/// @throws InvalidArgument `problem.not_canonical` if the model is not in canonical form.
KILN_API std::string canonical_text(const Ising& ising);

/// The first 16 hexadecimal digits of the SHA-256 of canonical_text(); the text is never stored.
///
/// @throws InvalidArgument `problem.not_canonical` if the model is not in canonical form.
KILN_API std::string fingerprint(const Ising& ising);

}  // namespace problems
}  // namespace kiln
