// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "watch/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "output/console.hpp"

namespace kiln::cli {
namespace {

constexpr const char* open_second = "\x1b[?1049h\x1b[?25l";  // without the cursor
constexpr const char* close_second = "\x1b[?25h\x1b[?1049l";
constexpr const char* home = "\x1b[H";
constexpr const char* erase_rest_of_line = "\x1b[K";
constexpr const char* erase_below = "\x1b[J";
constexpr std::size_t narrowest = 20, lowest = 2;

bool is_set(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0';
}

void show(const std::string& text) {
  print_result(text);
  std::fflush(stdout);
}

}  // namespace

ScreenSize screen_size() {
  ScreenSize size;
  winsize window = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col >= narrowest) size.columns = window.ws_col;
  if (window.ws_row >= lowest) size.rows = window.ws_row;
  return size;
}

bool has_screen() {
  const char* const terminal = std::getenv("TERM");
  return results_are_seen() && is_set("TERM") && std::string_view(terminal) != "dumb";
}

bool has_colors() { return has_screen() && !is_set("NO_COLOR"); }

Screen::Screen() { show(open_second); }

Screen::~Screen() { show(close_second); }

bool Screen::stop_if_asked() {
  if (!SuspendSignal::asked()) return false;
  show(close_second);
  SuspendSignal::suspend();
  show(open_second);
  return true;
}

void Screen::draw(const std::vector<std::string>& lines) {
  std::string frame = home;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) frame += "\r\n";
    frame += lines[i] + erase_rest_of_line;
  }
  show(frame + erase_below);
}

}  // namespace kiln::cli
