// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kiln::cli {

/// Says on a terminal what the program is doing, and for how long, where that takes longer than a
/// second: a live line on standard error, which is gone when this ends.
class Waiting {
 public:
  explicit Waiting(std::string doing);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void tell(const std::stop_token& stop) const;

  std::string doing_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any ended_;
  std::jthread teller_;
};

}  // namespace kiln::cli
