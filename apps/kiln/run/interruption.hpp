// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "run/signals.hpp"

namespace kiln::cli {

/// Ends the program as the first signal asks, with the exit code of that: the live row vanishes,
/// and standard error says `run.interrupted` and what was interrupted.
/// @param doing  follows "interrupted while"
[[noreturn]] void end_by_signal(const std::string& doing, const std::string& found);

/// While it lives, a signal ends a verb that has nothing to be kept before its end, by
/// end_by_signal(); a second one ends it at once.
class EndBySignal {
 public:
  explicit EndBySignal(std::string doing);

 private:
  std::string doing_;
  StopSignals signals_;
};

}  // namespace kiln::cli
