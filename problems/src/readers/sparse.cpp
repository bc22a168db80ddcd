// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "sparse.hpp"

namespace kiln::problems::detail {

std::int64_t move_diagonal(Qubo& qubo) {
  qubo.linear.assign(static_cast<std::size_t>(qubo.n), 0.0);
  std::vector<bool> seen(static_cast<std::size_t>(qubo.n));
  std::int64_t n_repeated = 0;
  std::erase_if(qubo.quadratic, [&](const QuboTerm& term) {
    if (term.i != term.j) return false;
    const auto i = static_cast<std::size_t>(term.i);
    qubo.linear[i] += term.value;
    n_repeated += seen[i] ? 1 : 0;
    seen[i] = true;
    return true;
  });
  return n_repeated;
}

std::string one_line(std::string comment) {
  std::ranges::replace_if(
      comment, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return comment;
}

}  // namespace kiln::problems::detail
