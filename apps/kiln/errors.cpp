// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <ios>
#include <new>
#include <string>
#include <typeinfo>

#include "kiln/failures/failure_code.hpp"
#include "kiln/version.hpp"

#include "fix_words.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/signals.hpp"

namespace kiln::cli {
namespace {

template <class Exception>
bool is(const std::exception& error) {
  return dynamic_cast<const Exception*>(&error) != nullptr;
}

struct ErrorRow {
  bool (*matches)(const std::exception&);
  ExitCode code;
};

// The exceptions that only the program throws.
constexpr std::array<ErrorRow, 3> exit_codes{{
    {is<InputError>, ExitCode::input},
    {is<RunMemoryError>, ExitCode::memory},
    {is<SelfCheckError>, ExitCode::self_check},
}};

ExitCode exit_code_of(const std::exception& error) {
  if (is<Interrupted>(error)) {
    const ExitCode code = exit_code_of_signal();
    return code == ExitCode::ok ? ExitCode::no_answer : code;  // an observer ended the run
  }
  for (const ErrorRow& row : exit_codes) {
    if (row.matches(error)) return row.code;
  }
  return static_cast<ExitCode>(failure_code_of(error));
}

// What a file says may be quoted, and may be long.
constexpr std::size_t longest_line = 1000;

std::string place_of(const ParseIssue& issue, const std::string& file) {
  std::string place = file;
  if (issue.line > 0) place += fmt::format(":{}", issue.line);
  if (issue.line > 0 && issue.column > 0) place += fmt::format(":{}", issue.column);
  return place;
}

std::string block_of(const ParseError& error, std::string_view verb) {
  const auto& issues = error.issues();
  std::string block = fmt::format("error[{}]: ", error.code());
  if (issues.empty()) return block + error.message() + "\n";
  std::string expected;
  bool first = true;
  for (const ParseIssue& issue : issues) {
    block +=
        fmt::format("{}{}: {}\n", first ? "" : "  ", place_of(issue, error.file()), issue.message);
    // Complaints of one kind expect the same; said once it is easier to read.
    if (!issue.expected.empty() && issue.expected != expected) {
      block += fmt::format("  {}expected: {}\n", first ? "" : "  ", issue.expected);
    }
    expected = issue.expected;
    first = false;
  }
  const auto shown = static_cast<std::int64_t>(issues.size());
  if (!error.fix_steps().empty()) {
    block += fmt::format("  fix: {}\n", fix_text(error, verb));
  } else if (error.total() > 1 || shown > 1) {
    block +=
        fmt::format("  fix: correct these lines (showing {} of {} errors)\n", shown, error.total());
  } else if (issues.front().line > 0) {
    block += fmt::format("  fix: correct line {}\n", issues.front().line);
  }
  return block;
}

// Where to read on, for errors that a message alone does not explain.
std::string more_of(const Error& error) {
  if (is<OutOfDeviceMemory>(error) || error.code() == "run.memory") {
    return "kiln solve ... --dry-run shows the plan";
  }
  const bool device = is<NoDevice>(error) || is<NotCompiled>(error) || is<PluginError>(error);
  if (is<PluginError>(error) && exit_code_of(error) == ExitCode::usage)
    return "docs/guides/your_own_plugin.md";
  return device ? "kiln doctor" : "";
}

std::string block_of(const Error& error, std::string_view verb) {
  std::string block = fmt::format("error[{}]: {}\n", error.code(), error.message());
  const std::string expected = expected_text(error), fix = fix_text(error, verb);
  if (!expected.empty()) block += fmt::format("  {}\n", expected);
  if (!fix.empty()) block += fmt::format("  fix: {}\n", fix);
  const std::string more = more_of(error);
  if (!more.empty()) block += fmt::format("  more: {}\n", more);
  return block;
}

std::string block_of(const std::exception& error, std::string_view verb) {
  if (const auto* parse = dynamic_cast<const ParseError*>(&error)) return block_of(*parse, verb);
  if (const auto* known = dynamic_cast<const Error*>(&error)) return block_of(*known, verb);
  if (is<std::bad_alloc>(error)) {
    return fmt::format(
        "error[memory.host]: there is not enough memory\n"
        "  fix: use {}, or a machine with more memory\n",
        less_memory(verb == "sample"));
  }
  if (is_lack_of_resources(error)) {
    return fmt::format(
        "error[memory.threads]: the system grants no further thread or process: {}\n"
        "  fix: use fewer --threads, or raise the limit (ulimit -u)\n",
        error.what());
  }
  if (is<std::ios_base::failure>(error)) {
    return "error[input.read]: reading failed: the disk or the pipe reports an error\n";
  }
  return fmt::format(
      "error[internal.exception]: {} ({})\n"
      "  This is a defect of kiln {}.\n"
      "  fix: please report it with this message and the command line\n",
      error.what(), typeid(error).name(), version());
}

}  // namespace

ExitCode report_current_exception(std::string_view verb) {
  try {
    throw;
  } catch (const std::exception& error) {
    print_note(clean_lines(shortened_lines(block_of(error, verb), longest_line)));
    return exit_code_of(error);
  } catch (...) {
    print_note("error[internal.exception]: an exception of unknown type; please report it\n");
    return ExitCode::internal;
  }
}

}  // namespace kiln::cli
