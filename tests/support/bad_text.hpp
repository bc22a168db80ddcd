// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

#include "kiln/errors.hpp"

namespace kiln::test {

/// A text that a reader must refuse, and the message that it must give.
struct BadText {
  std::string_view name;  ///< what is wrong, as a test name
  std::string_view text;
  std::string_view message;
};

inline void PrintTo(const BadText& bad, std::ostream* out) { *out << bad.name; }

/// The message with which `read(stream, file name)` refuses a text, or "accepted".
template <class Read>
std::string refusal(Read read, std::string_view text) {
  std::istringstream in{std::string(text)};
  try {
    read(in, "f");
  } catch (const ParseError& error) {
    return error.message();
  }
  return "accepted";
}

/// UTF-16 with the low byte first, without a byte-order mark.
inline std::string utf16(std::string_view ascii) {
  std::string wide;
  for (const char c : ascii) wide.append({c, '\0'});
  return wide;
}

/// The text with CR LF instead of line feeds.
inline std::string crlf(std::string_view text) {
  std::string converted;
  for (const char c : text) converted += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return converted;
}

}  // namespace kiln::test
