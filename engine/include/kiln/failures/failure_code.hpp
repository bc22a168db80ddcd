// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "kiln/export.hpp"

namespace kiln {

/// A number for each class of failure, the same at every interface: the C interface returns it, and
/// a program that embeds Kiln can end with it. Part of the contract with callers: never renumbered.
enum class FailureCode : int {
  none = 0,
  internal = 1,
  usage = 2,
  input = 3,
  device = 4,
  memory = 5,
  output = 6,
  plugin = 7,
  self_check = 8,
  no_answer = 9,
  device_fault = 70,
};

/// The number of an exception that Kiln or the standard library throws; `internal` for all others.
KILN_API FailureCode failure_code_of(const std::exception& error) noexcept;

/// Whether the system did not grant a thread or a process, as under `ulimit -u`.
KILN_API bool is_lack_of_resources(const std::exception& error) noexcept;

}  // namespace kiln
