// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test {

/// The width of a screen of which a test says nothing.
inline constexpr std::size_t columns = 80;

/// The program on a terminal.
class Terminal : public ProgramTest {
 protected:
  /// Both outputs are one terminal, which passes line feeds on as they are.
  Outcome run_on_screen(const std::vector<std::string>& words, std::size_t width = columns) const;
  /// The same, with a signal that is sent once when the screen has a text.
  Outcome run_on_screen(const std::vector<std::string>& words, std::size_t width, int signal,
                        const std::string& signal_at) const;

  /// Fails the test where a line of the run does not fit.
  void expect_narrow(const std::vector<std::string>& words, int exit_code = 0) const;
};

/// Without the sequences that make letters bold or erase a line; what was erased stands on a line
/// of its own, but for lines that were gone back to.
std::vector<std::string> screen_lines(const std::string& text);

/// A word that does not fit stays whole, at the end of its line and in its left half.
bool fits(const std::string& line);

/// What three blanks or more are between.
std::vector<std::string> cells_of(const std::string& row);

}  // namespace kiln::test
