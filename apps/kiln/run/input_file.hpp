// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <istream>
#include <string>
#include <vector>

namespace kiln::cli {

/// Opens a file that a user named, to be read byte by byte.
///
/// @param expected, fix  further lines of the message, for Error; `expected` may be empty, and
///   without a `fix` there is one that fits any file
/// @throws InputError with the code input.open and the reason of the system; for a folder too
std::ifstream open_input(const std::string& path, const std::string& expected = {},
                         const std::string& fix = {});

/// All that is left of a stream; `name` is how messages call it.
/// @throws InputError `input.read` if reading fails; ParseError if there are more than
/// `max_bytes`.
std::string read_all(std::istream& in, const std::string& name, std::size_t max_bytes);

/// The text of a table: problems::csv_text() of the file.
/// @throws InputError as open_input(), and `input.read` if reading fails; ParseError.
std::string table_text_of(const std::string& path);

/// Hands out a text line by line: lines of at most 1 MiB, and 1 GiB of them.
class LineReader {
 public:
  LineReader(std::istream& in, std::string name);

  /// The next line without its line feed; false at the end.
  /// @throws InputError `input.read` if reading fails; ParseError beyond a limit and at a NUL byte.
  bool next(std::string& line);

 private:
  [[noreturn]] void refuse(const std::string& why) const;

  std::istream& in_;
  std::string name_;
  std::vector<char> buffer_;
  std::int64_t line_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace kiln::cli
