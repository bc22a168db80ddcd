// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/console.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "kiln/errors.hpp"

#include "output/text.hpp"

namespace kiln::cli {
namespace {

bool has_no_reader(int descriptor) {
  pollfd file{descriptor, POLLOUT, 0};
  return ::poll(&file, 1, 0) > 0 && (file.revents & POLLERR) != 0;
}

std::size_t columns_of(int descriptor) {
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

}  // namespace

bool nobody_listens() { return has_no_reader(STDOUT_FILENO) && has_no_reader(STDERR_FILENO); }

bool results_have_reader() { return !has_no_reader(STDOUT_FILENO); }

void print_result(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_text(std::string_view text) {
  print_result(results_are_seen() ? fitted(text, result_columns()) : std::string(text));
}

void print_row(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// The last column stays free: some terminals go to the next line when it is written.
void print_note(std::string_view text) {
  const bool fits = ::isatty(STDERR_FILENO) == 0;
  print_row(fits ? std::string(text) : fitted(text, note_columns() - 1));
}

std::size_t note_columns() { return columns_of(STDERR_FILENO); }

std::size_t prose_columns() { return std::max<std::size_t>(note_columns(), 40) - 14; }

std::size_t result_columns() { return columns_of(STDOUT_FILENO) - 1; }

bool results_are_seen() { return ::isatty(STDOUT_FILENO) != 0; }

std::string paragraph(std::string_view sentences) {
  std::string text;
  for (const std::string& line : wrap(sentences, result_columns())) text += line + "\n";
  return text;
}

bool flush_results() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0;
  const int reason = errno;
  if (!failed && std::ferror(stdout) == 0) return true;
  if (reason == EPIPE || has_no_reader(STDOUT_FILENO)) return false;
  throw IoError("io.write", "writing to standard output failed" +
                                (reason != 0 ? std::string(": ") + std::strerror(reason) : ""));
}

}  // namespace kiln::cli
