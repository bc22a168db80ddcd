// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/device_wait.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds default_timeout = std::chrono::minutes(10);
constexpr double longest_s = 1e9;  // 31 years, and within the clock

// Seconds of a unit; 0 for a word that is none.
double seconds_of(std::string_view unit) {
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  if (unit == "m") return 60;
  return unit == "h" ? 3600 : 0;
}

}  // namespace

nanoseconds device_timeout() {
  const char* const set = std::getenv("KILN_DEVICE_TIMEOUT");
  const std::string_view text = set == nullptr ? "" : set;
  if (text.empty()) return default_timeout;
  if (text == "0") return nanoseconds(0);
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const double seconds =
      number * seconds_of(text.substr(static_cast<std::size_t>(rest - text.data())));
  if (error == std::errc() && seconds >= 1e-3 && seconds <= longest_s) {
    return nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }
  throw InvalidArgument(
      "device.timeout", "KILN_DEVICE_TIMEOUT is '" + std::string(text) + "', which is no time",
      "a number with ms, s, m or h, from 1ms on, or 0 to wait for ever", "KILN_DEVICE_TIMEOUT=10m");
}

bool DeviceWait::pause() {
  constexpr nanoseconds nap = std::chrono::microseconds(30), longest_look = std::chrono::seconds(1);
  const auto now = Clock::now();
  if (last_ == Clock::time_point{}) last_ = now;
  waited_ += std::min<nanoseconds>(now - last_, longest_look);
  last_ = now;
  if (waited_ <= spin_) return true;
  if (timeout_ > nanoseconds(0) && waited_ >= timeout_) return false;
  std::this_thread::sleep_for(nap);
  return true;
}

}  // namespace kiln
