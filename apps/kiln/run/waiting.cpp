// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/waiting.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "output/live_row.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr std::chrono::seconds between_rows{1};

}  // namespace

Waiting::Waiting(std::string doing) : doing_(std::move(doing)) {
  if (!has_live_row()) return;
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
  while (!ended_.wait_for(lock, stop, between_rows, [&] { return stop.stop_requested(); })) {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begin;
    show_live_row(fmt::format("{}, {}", doing_, human_seconds(gone.count())));
  }
  erase_live_row();
}

}  // namespace kiln::cli
