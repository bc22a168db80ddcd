// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/fix.hpp"

namespace kiln {

/// Base class of all exceptions that Kiln throws.
///
/// what() is one readable block: `<code>: <what is wrong and where>`. The parts are also available
/// separately, so that a program can format them:
/// - code(): stable `area.reason` identifier, for example `input.value`;
/// - message(): one sentence that says what is wrong and where;
/// - expected(): the valid values, or why it matters (may be empty);
/// - fix(): a remedy in terms of the C++ interface (may be empty); fix_steps() has its steps as
///   codes, which a program words for its users.
class KILN_API Error : public std::runtime_error {
 public:
  Error(std::string code, std::string message, std::string expected = {}, Fix fix = {});
  ~Error() override;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

  const std::string& code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  const std::string& expected() const noexcept { return expected_; }
  const std::string& fix() const noexcept { return fix_; }
  const Fix& fix_steps() const noexcept { return fix_steps_; }

 private:
  std::string code_, message_, expected_, fix_;
  Fix fix_steps_;
};

/// An argument, an option or a combination of them is invalid. Nothing was modified.
class KILN_API InvalidArgument : public Error {
 public:
  using Error::Error;
  ~InvalidArgument() override;
};

/// One complaint about a text file. Lines and columns count from 1; 0 means the whole file.
struct ParseIssue {
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string message;   ///< what is wrong: "weight '1e400' is not a finite number"
  std::string expected;  ///< what was expected: "<node> <node> <weight>"
};

/// A text does not follow its format. Nothing of it was kept.
///
/// message() names the first issue as `<file>:<line>:<column>: <message>`; issues() has up to five,
/// total() counts all that were found.
class KILN_API ParseError : public Error {
 public:
  ParseError(std::string file, std::vector<ParseIssue> issues, std::int64_t total, Fix fix = {});
  ~ParseError() override;

  const std::string& file() const noexcept { return file_; }
  const std::vector<ParseIssue>& issues() const noexcept { return issues_; }
  std::int64_t total() const noexcept { return total_; }

 private:
  std::string file_;
  std::vector<ParseIssue> issues_;
  std::int64_t total_ = 0;
};

/// A requested device cannot be used; code() says which step failed (`device.no_driver` …).
class KILN_API NoDevice : public Error {
 public:
  using Error::Error;
  ~NoDevice() override;
};

/// Kiln has the feature, but this build does not include it.
class KILN_API NotCompiled : public Error {
 public:
  using Error::Error;
  ~NotCompiled() override;
};

/// The plan of a run does not fit into the free memory.
class KILN_API OutOfDeviceMemory : public Error {
 public:
  OutOfDeviceMemory(std::string message, std::uint64_t bytes_needed, std::uint64_t bytes_free,
                    Fix fix = {});
  ~OutOfDeviceMemory() override;
  std::uint64_t bytes_needed() const noexcept { return bytes_needed_; }
  std::uint64_t bytes_free() const noexcept { return bytes_free_; }

 private:
  std::uint64_t bytes_needed_ = 0;
  std::uint64_t bytes_free_ = 0;
};

/// A call into CUDA failed; the message names the call and the driver's own text.
class KILN_API CudaError : public Error {
 public:
  using Error::Error;
  ~CudaError() override;
};

/// A user's objective threw or returned an unusable value.
class KILN_API ObjectiveError : public Error {
 public:
  using Error::Error;
  ~ObjectiveError() override;
};

/// Thrown by a user's objective whose evaluation was stopped before it had a value, because the run
/// is ending (Experiment::watch_stop). It is not an evaluation: neither counted nor shown to the
/// schedule.
class KILN_API EvaluationCutOff : public ObjectiveError {
 public:
  using ObjectiveError::ObjectiveError;
  ~EvaluationCutOff() override;
};

/// A run was stopped before it had a first value.
class KILN_API Interrupted : public Error {
 public:
  using Error::Error;
  ~Interrupted() override;
};

/// Source text does not compile at run time.
class KILN_API CompileError : public Error {
 public:
  using Error::Error;
  ~CompileError() override;
};

/// A plug-in or module was refused or failed.
class KILN_API PluginError : public Error {
 public:
  using Error::Error;
  ~PluginError() override;
};

/// A file cannot be read or written.
class KILN_API IoError : public Error {
 public:
  using Error::Error;
  ~IoError() override;
};

/// Finds the member of `candidates` nearest to `word` by edit distance; "" if none is near enough.
/// Every "did you mean" of the library and the command line uses it.
KILN_API std::string nearest_name(std::string_view word,
                                  const std::vector<std::string>& candidates);

}  // namespace kiln
