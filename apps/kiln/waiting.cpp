// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "waiting.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "console.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

constexpr const char* erase_line = "\r\x1b[2K";
constexpr std::chrono::seconds between_rows{1};

bool on_a_terminal() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && std::string_view(terminal ? terminal : "") != "dumb";
}

}  // namespace

Waiting::Waiting(std::string doing) : doing_(std::move(doing)) {
  if (!on_a_terminal()) return;
  try {
    teller_ = std::jthread([this](const std::stop_token& stop) {
      try {
        tell(stop);
      } catch (const std::exception&) {
        return;  // a row less
      }
    });
  } catch (const std::system_error&) {
    return;  // no thread is granted: nothing is said
  }
}

Waiting::~Waiting() {
  if (!teller_.joinable()) return;
  teller_.request_stop();
  teller_.join();
}

void Waiting::tell(const std::stop_token& stop) const {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  bool told = false;
  while (!ended_.wait_for(lock, stop, between_rows, [&] { return stop.stop_requested(); })) {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begin;
    const std::string row = fmt::format("{}, {}", doing_, human_seconds(gone.count()));
    print_row(erase_line + row.substr(0, note_columns() - 1));
    told = true;
  }
  if (told) print_row(erase_line);
}

}  // namespace kiln::cli
