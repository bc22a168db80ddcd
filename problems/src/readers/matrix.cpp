// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

#include "kiln/options.hpp"

namespace kiln::problems::detail {
namespace {

// Products that should be symmetric differ in their last digits, most in single precision.
constexpr double rounding = 1e-6;

std::string place_of(std::int32_t row, std::int32_t column) {
  return "row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1);
}

bool alike(double a, double b) {
  return std::abs(a - b) <= rounding * std::max(std::abs(a), std::abs(b));
}

// Both places of a pair lie together then, and those of pairs of small numbers first.
void sort_by_pair(std::vector<MatrixEntry>& entries) {
  std::ranges::sort(entries, std::ranges::less{}, [](const MatrixEntry& e) {
    return std::tuple(std::min(e.row, e.column), std::max(e.row, e.column), e.row);
  });
}

bool is_mirror(const MatrixEntry& a, const MatrixEntry& b) {
  return a.row == b.column && a.column == b.row;
}

bool is_triangular(const std::vector<MatrixEntry>& entries) {
  const auto below = [](const MatrixEntry& e) { return e.row > e.column; };
  const auto above = [](const MatrixEntry& e) { return e.row < e.column; };
  return std::ranges::none_of(entries, below) || std::ranges::none_of(entries, above);
}

void require_mirror(const std::vector<MatrixEntry>& entries, std::size_t i,
                    const RefuseFile& refuse) {
  const MatrixEntry& e = entries[i];
  const bool paired = i + 1 < entries.size() && is_mirror(e, entries[i + 1]);
  const double other = paired ? entries[i + 1].value : 0;
  if (alike(e.value, other)) return;
  const auto text = [](double value) { return kiln::detail::show_real(value); };
  refuse("the matrix is neither symmetric nor triangular: " + place_of(e.row, e.column) + " is " +
             text(e.value) + ", and " + place_of(e.column, e.row) + " is " + text(other),
         matrix_form);
}

Ising as_ising(Qubo terms, const RefuseFile& refuse) {
  const auto field = std::ranges::find_if(terms.linear, [](double h) { return h != 0; });
  if (field != terms.linear.end()) {
    const auto i = static_cast<std::int32_t>(field - terms.linear.begin());
    refuse("the matrix of spins is not 0 at " + place_of(i, i) +
               ": the value could mean a field or a constant",
           "a diagonal of zeros, or the format coo, which has fields; for a matrix of bits, leave "
           "out --vartype spin");
  }
  Ising ising{terms.n, std::move(terms.linear), {}, 0.0};
  for (const QuboTerm& term : terms.quadratic) {
    ising.couplings.push_back({term.i, term.j, term.value});
  }
  return ising;
}

}  // namespace

std::variant<Ising, Qubo> model_of_matrix(std::int64_t n, std::vector<MatrixEntry> entries,
                                          const ReaderOptions& options, const RefuseFile& refuse) {
  const bool triangular = is_triangular(entries);
  sort_by_pair(entries);
  Qubo qubo;
  qubo.n = static_cast<std::int32_t>(n);
  qubo.linear.assign(static_cast<std::size_t>(n), 0.0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const MatrixEntry& e = entries[i];
    if (e.row == e.column) {
      qubo.linear[static_cast<std::size_t>(e.row)] = e.value;
      continue;
    }
    double sum = e.value;
    if (!triangular) {
      require_mirror(entries, i, refuse);
      sum += entries[++i].value;
    }
    if (!std::isfinite(sum)) {
      refuse("twice the value at " + place_of(e.row, e.column) + " is more than a double can hold",
             matrix_form);
    }
    qubo.quadratic.push_back({std::min(e.row, e.column), std::max(e.row, e.column), sum});
  }
  if (options.vartype == VarType::spin) return as_ising(std::move(qubo), refuse);
  return qubo;
}

ReadReport report_of_matrix(const ReaderOptions& options) {
  const bool spins = options.vartype == VarType::spin;
  return {0,
          {std::string("Kiln reads the matrix Q as the function x'Qx of ") +
           (spins ? "spins" : "bits (spins: --vartype spin)") +
           "; the coefficient of x_i x_j is Q_ij + Q_ji"}};
}

}  // namespace kiln::problems::detail
