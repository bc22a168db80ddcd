// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"

namespace kiln::problems::detail {

/// How a program ended.
struct ProcessResult {
  enum class End : std::uint8_t { exited, killed, timed_out, stopped, not_started };
  End end = End::exited;
  int code = 0;        ///< of exit, the signal, or the reason why it did not start (errno)
  std::string output;  ///< the end of what it printed, at most a mebibyte
  std::string errors;  ///< the end of what it printed to standard error
};

/// Runs a program, found through PATH, in a separate process group with empty standard input, and
/// waits for it. If it takes longer than `timeout_s` (0: no limit), or a stop is requested, the
/// whole group is ended: by SIGTERM, and by SIGKILL a second later. Processes of the group that
/// outlive the program are ended by SIGKILL. May be called from several threads.
/// @param keeper  is told of the process; may be null
KILN_TEST_API ProcessResult run_process(const std::vector<std::string>& words, double timeout_s,
                                        const std::stop_token& stop,
                                        ProgramKeeper* keeper = nullptr);

}  // namespace kiln::problems::detail
