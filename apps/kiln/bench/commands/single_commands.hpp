// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace kiln::cli {

/// What one command met that was sent after the answer to another.
struct SentSingle {
  double wait_s = 0;      ///< from the answer before to this command
  double answered_s = 0;  ///< from the command to its answer
  double ticks = 0;       ///< of the run since the command before
};

/// Times of a run that obeys, in seconds.
struct HoldTimes {
  double tick_s = 0;               ///< of a tick while nobody sends; 0: not measured
  std::vector<double> held_s;      ///< from each command to the end of the tick that held the run
  std::vector<double> answered_s;  ///< from each command to its answer
};

/// The host does not see when the device ends a tick. So `held_s` comes from the ticks between two
/// commands: the run restarts after an answer, and makes ticks of equal length. The restart is
/// taken to be as long as a command that is sent at once takes beside its ticks. The way of its
/// answer is in it, too, so `held_s` is too long by that: an upper bound in the median.
///
/// @param all  of one sender, in their order; some were sent within 50 us
/// @throws std::invalid_argument if none was, or if longer waits had no more ticks
HoldTimes hold_times(const std::vector<SentSingle>& all);

}  // namespace kiln::cli
