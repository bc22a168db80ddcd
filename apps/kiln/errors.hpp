// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kiln/errors.hpp"

namespace kiln::cli {

/// What the program answers to its caller. Part of the contract with scripts: never renumbered.
enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,
  input = 3,
  device = 4,
  memory = 5,
  output = 6,
  plugin = 7,
  self_check = 8,
  no_answer = 9,
  target_missed = 10,
  slower = 11,
  device_fault = 70,
  interrupted = 130,
  broken_pipe = 141,
  terminated = 143,
};

/// An input file that cannot be opened or read: another exit code than a file that cannot be
/// written.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Memory ended, and the fix is that of a run which has a folder.
class RunMemoryError : public Error {
 public:
  using Error::Error;
};

/// The best state has another value than the engine claims; the number must not be used.
class SelfCheckError : public Error {
 public:
  using Error::Error;
};

/// Gives what `parse` gives. Where that refuses a value without saying how it is written, the
/// complaint gets this fix.
template <class Parse>
auto with_fix(const std::string& fix, Parse parse) {
  try {
    return parse();
  } catch (const InvalidArgument& error) {
    if (!error.fix().empty()) throw;
    throw InvalidArgument(error.code(), error.message(), error.expected(), fix);
  }
}

/// Prints the block of the exception that is being handled to standard error and gives its exit
/// code.
ExitCode report_current_exception(std::string_view verb = {});

}  // namespace kiln::cli
