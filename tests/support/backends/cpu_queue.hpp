// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/queue.hpp"

namespace kiln::test {

/// A queue of the CPU backend; it keeps its threads alive by itself.
inline std::unique_ptr<Queue> cpu_queue(int threads = 1) {
  return open_backend("cpu", threads).backend->make_queue();
}

/// The code of the Error that `action` throws, or "accepted".
template <class Action>
std::string code_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return "accepted";
}

/// "code: message" of the InvalidArgument that `action` throws, or "accepted".
template <class Action>
std::string complaint(Action&& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message();
  }
  return "accepted";
}

}  // namespace kiln::test
