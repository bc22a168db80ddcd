// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kiln/problems/readers.hpp"

// Common code of the readers of matrices: the function x'Qx of a square matrix Q.
namespace kiln::problems::detail {

inline constexpr std::string_view matrix_form =
    "a square matrix Q of the function x'Qx, symmetric or triangular";

/// An entry that is not 0.
struct MatrixEntry {
  std::int32_t row = 0;
  std::int32_t column = 0;
  double value = 0;
};

/// Refuses the file as a whole; does not return.
using RefuseFile = std::function<void(const std::string& message, std::string_view expected)>;

/// The function of n variables with these entries, each place at most once and in any order.
std::variant<Ising, Qubo> model_of_matrix(std::int64_t n, std::vector<MatrixEntry> entries,
                                          const ReaderOptions& options, const RefuseFile& refuse);

/// The report on a matrix that was read.
ReadReport report_of_matrix(const ReaderOptions& options);

}  // namespace kiln::problems::detail
