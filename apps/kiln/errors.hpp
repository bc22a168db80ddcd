// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kiln/errors.hpp"
#include "kiln/failures/failure_code.hpp"

namespace kiln::cli {

/// What the program answers to its caller: the code of a failure of the library, or of what only
/// the program knows. Part of the contract with scripts: never renumbered.
enum class ExitCode : int {
  ok = static_cast<int>(FailureCode::none),
  internal = static_cast<int>(FailureCode::internal),
  usage = static_cast<int>(FailureCode::usage),
  input = static_cast<int>(FailureCode::input),
  device = static_cast<int>(FailureCode::device),
  memory = static_cast<int>(FailureCode::memory),
  output = static_cast<int>(FailureCode::output),
  plugin = static_cast<int>(FailureCode::plugin),
  self_check = static_cast<int>(FailureCode::self_check),
  no_answer = static_cast<int>(FailureCode::no_answer),
  target_missed = 10,
  slower = 11,
  device_fault = static_cast<int>(FailureCode::device_fault),
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

/// Memory ended, and the fix is another one than fewer replicas of a new run.
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
