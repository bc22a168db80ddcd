// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/failures/failure_code.hpp"

#include <array>
#include <ios>
#include <new>
#include <system_error>

#include "kiln/checkpoint.hpp"
#include "kiln/errors.hpp"

namespace kiln {
namespace {

template <class Exception>
bool is(const std::exception& error) noexcept {
  return dynamic_cast<const Exception*>(&error) != nullptr;
}

// Of a plug-in that the user named; the CUDA module is a part of Kiln.
bool is_plugin_of_user(const std::exception& error) noexcept {
  const auto* const known = dynamic_cast<const PluginError*>(&error);
  return known != nullptr && known->code().starts_with("plugin.");
}

struct Row {
  bool (*matches)(const std::exception&) noexcept;
  FailureCode code;
};

// The first row that matches counts; what is in none is a defect.
constexpr std::array<Row, 16> rows{{
    {is<InvalidArgument>, FailureCode::usage},
    {is<ParseError>, FailureCode::input},
    {is<CheckpointError>, FailureCode::input},
    {is<NoDevice>, FailureCode::device},
    {is<NotCompiled>, FailureCode::device},
    {is<OutOfDeviceMemory>, FailureCode::memory},
    {is<std::bad_alloc>, FailureCode::memory},
    {is_lack_of_resources, FailureCode::memory},
    {is<std::ios_base::failure>, FailureCode::input},
    {is<IoError>, FailureCode::output},
    {is_plugin_of_user, FailureCode::usage},
    {is<PluginError>, FailureCode::plugin},
    {is<CompileError>, FailureCode::plugin},
    {is<ObjectiveError>, FailureCode::no_answer},
    {is<Interrupted>, FailureCode::no_answer},
    {is<CudaError>, FailureCode::device_fault},
}};

}  // namespace

bool is_lack_of_resources(const std::exception& error) noexcept {
  const auto* const known = dynamic_cast<const std::system_error*>(&error);
  return known != nullptr && (known->code() == std::errc::resource_unavailable_try_again ||
                              known->code() == std::errc::not_enough_memory);
}

FailureCode failure_code_of(const std::exception& error) noexcept {
  for (const Row& row : rows) {
    if (row.matches(error)) return row.code;
  }
  return FailureCode::internal;
}

}  // namespace kiln
