// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/signals.hpp"

namespace kiln::cli {

/// Size of the terminal on standard output, in characters.
struct ScreenSize {
  std::size_t columns = 80, rows = 24;
};
ScreenSize screen_size();

/// Whether standard output is a terminal that can be drawn on.
bool has_screen();

/// Whether letters on it may have colours.
bool has_colors();

/// Draws frames on the second screen of the terminal, so that no size of the window and no line
/// that wraps leaves traces. The first screen comes back at the end.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Overwrites the frame before in one piece: nothing is erased first, so nothing flickers.
  void draw(const std::vector<std::string>& lines);
  /// Where the terminal wants to stop the program, gives the first screen back, stops, and opens
  /// the second one when the program continues. True: the next frame is due.
  bool stop_if_asked();

 private:
  SuspendSignal suspend_;
};

}  // namespace kiln::cli
