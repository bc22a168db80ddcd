// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/live_row.hpp"

#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "output/console.hpp"

namespace kiln::cli {
namespace {

constexpr const char* erase_row = "\r\x1b[2K";

struct LiveRow {
  std::mutex mutex;
  bool shown = false;
  bool closed = false;

  void erase() {
    if (shown) print_row(erase_row);
    shown = false;
  }
};

// Never destroyed: a thread may still show something while the program ends.
LiveRow& the_row() {
  static LiveRow& row = *new LiveRow;
  return row;
}

}  // namespace

bool has_live_row() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && std::string_view(terminal ? terminal : "") != "dumb";
}

void show_live_row(std::string_view text) {
  LiveRow& row = the_row();
  const std::lock_guard lock(row.mutex);
  if (row.closed) return;
  print_row(erase_row + std::string(text.substr(0, note_columns() - 1)));
  row.shown = true;
}

void erase_live_row() {
  LiveRow& row = the_row();
  const std::lock_guard lock(row.mutex);
  row.erase();
}

void close_live_row() {
  LiveRow& row = the_row();
  const std::lock_guard lock(row.mutex);
  row.erase();
  row.closed = true;
}

}  // namespace kiln::cli
