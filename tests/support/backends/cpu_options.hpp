// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/run.hpp"

namespace kiln::test {

/// Of a run on one CPU thread.
inline RunOptions options(std::int64_t replicas = 32, std::uint64_t seed = 1) {
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.replicas = replicas;
  options.seed = seed;
  return options;
}

}  // namespace kiln::test
