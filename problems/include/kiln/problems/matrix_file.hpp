// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "kiln/export.hpp"
#include "kiln/models/product.hpp"

namespace kiln::problems {

/// Reads a matrix of numbers, of any shape and without elements too, in one of three formats that
/// its first bytes tell:
/// - an array that NumPy has saved, of two axes;
/// - Matrix Market, `coordinate` or `array`, real, integer or pattern, with any symmetry of reals;
///   repeated entries are added up;
/// - text: a row per line, values separated by blanks, tabs, commas or semicolons; lines that begin
///   with `#` are comments.
/// Symmetric and sparse files become whole matrices. A coordinate file needs an entry for every
/// 1024 elements beyond 2^24.
///
/// @param in         the bytes, not compressed
/// @param file_name  only for messages
/// @throws ParseError for other text, with row and column of a NaN or an infinity; IoError
/// `io.read`.
/// @par Source  Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996.
KILN_API HostMatrix read_matrix(std::istream& in, const std::string& file_name);

}  // namespace kiln::problems
