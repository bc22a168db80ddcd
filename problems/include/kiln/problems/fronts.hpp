// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"

namespace kiln::problems {

/// Reads a front: one point per line, its numbers separated by commas, blanks or tabs; `#` comment
/// lines and blank lines. A first line without any number has the names of the objectives and is
/// skipped. Lines end in LF or CR LF; a UTF-8 byte-order mark is accepted.
///
/// It refuses lines with different numbers of values, missing values, NaN, infinities, numbers with
/// trailing characters, texts without a point, lines over 1 MiB, texts over 8 GiB, UTF-16, gzip and
/// NUL bytes.
/// @param in  the text
/// @param name  only for messages: a file name.
/// @return [point][objective], in the order and in the units of the text, without information on
/// which objectives are minimised.
/// @throws ParseError with file, line and column (in bytes, from 1) of up to five issues and the
/// total; IoError `io.read` if the stream fails.
KILN_API Points read_front(std::istream& in, const std::string& name);

}  // namespace kiln::problems
