// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/executors/executor.hpp"

namespace kiln {

std::string_view to_string(Executor executor) noexcept {
  switch (executor) {
    case Executor::automatic:
      return "auto";
    case Executor::stream:
      return "stream";
    case Executor::graph:
      return "graph";
    case Executor::loop:
      return "loop";
    case Executor::resident:
      return "resident";
  }
  return "";
}

}  // namespace kiln
