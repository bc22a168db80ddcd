// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <string>

#include "expensive/program_output.hpp"
#include "fuzz.hpp"

namespace kiln::test {

/// Whether the text has this number somewhere, in whatever form.
inline bool has_number(const std::string& text, double wanted) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (error == std::errc() && (value == wanted || (std::isnan(value) && std::isnan(wanted)))) {
      return true;
    }
  }
  return false;
}

/// Reads what a program printed, with how many numbers it is to give in the first byte: it is
/// refused with a complaint, which is returned, or gives so many numbers, all of which stand in it.
inline std::string check_output(const std::string& text) {
  if (text.empty()) return "accepted";
  const std::size_t count = static_cast<unsigned char>(text.front()) % 4 + 1;
  const std::string printed = text.substr(1);
  const auto output = problems::detail::read_output(printed, count);
  for (const char c : output.line + output.complaint) {
    require(c != '\x1b' && c != '\n' && c != '\0', "what is shown is printable");
  }
  require(output.complaint.empty() == !output.numbers.empty(), "numbers, or why there are none");
  if (!output.complaint.empty()) return output.complaint;
  require(output.numbers.size() == count, "as many numbers as there are to be");
  for (const double number : output.numbers) {
    require(!std::isfinite(number) || has_number(printed, number), "numbers stand in the text");
  }
  return "accepted";
}

}  // namespace kiln::test
