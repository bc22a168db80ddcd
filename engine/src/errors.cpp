// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/errors.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace kiln {

Error::Error(std::string code, std::string message, std::string expected, Fix fix)
    : std::runtime_error(code + ": " + message + (expected.empty() ? "" : "\n  " + expected) +
                         (fix.empty() ? "" : "\n  fix: " + fix.sentence())),
      code_(std::move(code)),
      message_(std::move(message)),
      expected_(std::move(expected)),
      fix_(fix.sentence()),
      fix_steps_(std::move(fix)) {}

// The destructors stand here so that each class has its type information in libkiln alone: an
// exception thrown by a module must be caught as the same type by the program.
Error::~Error() = default;
InvalidArgument::~InvalidArgument() = default;
ParseError::~ParseError() = default;
NoDevice::~NoDevice() = default;
NotCompiled::~NotCompiled() = default;
OutOfDeviceMemory::~OutOfDeviceMemory() = default;
CudaError::~CudaError() = default;
ObjectiveError::~ObjectiveError() = default;
EvaluationCutOff::~EvaluationCutOff() = default;
Interrupted::~Interrupted() = default;
CompileError::~CompileError() = default;
PluginError::~PluginError() = default;
IoError::~IoError() = default;

namespace {

std::string first_issue(const std::string& file, const std::vector<ParseIssue>& issues) {
  if (issues.empty()) return file + ": unreadable";
  const ParseIssue& issue = issues.front();
  std::string place = file;
  if (issue.line > 0) place += ":" + std::to_string(issue.line);
  if (issue.line > 0 && issue.column > 0) place += ":" + std::to_string(issue.column);
  return place + ": " + issue.message;
}

std::string first_expected(const std::vector<ParseIssue>& issues) {
  return issues.empty() || issues.front().expected.empty() ? std::string{}
                                                           : "expected: " + issues.front().expected;
}

}  // namespace

ParseError::ParseError(std::string file, std::vector<ParseIssue> issues, std::int64_t total,
                       Fix fix)
    : Error("input.parse", first_issue(file, issues), first_expected(issues), std::move(fix)),
      file_(std::move(file)),
      issues_(std::move(issues)),
      total_(total) {}

OutOfDeviceMemory::OutOfDeviceMemory(std::string message, std::uint64_t bytes_needed,
                                     std::uint64_t bytes_free, Fix fix)
    : Error("memory.device", std::move(message), {}, std::move(fix)),
      bytes_needed_(bytes_needed),
      bytes_free_(bytes_free) {}

namespace {

std::string digits_of(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits),
                       [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // More than a third of the letters wrong is another word, not a slip of the finger; of longer
  // words than three letters two may be.
  const std::size_t few = word.empty() || word.size() > 3 ? 2 : 1;
  std::size_t best_distance = std::max(few, word.size() / 3) + 1;
  const std::string digits = digits_of(word);
  std::vector<std::size_t> row;
  for (const std::string& candidate : candidates) {
    // Another number is another thing: who asks for G999 does not mean G9.
    const std::string others = digits_of(candidate);
    if (!digits.empty() && !others.empty() && digits != others) continue;
    row.resize(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {  // Levenshtein, one row at a time
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t above = row[j];
        const std::size_t replace = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        row[j] = std::min({above + 1, row[j - 1] + 1, replace});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace kiln
