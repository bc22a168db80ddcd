// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/backend.hpp"

namespace kiln {

/// What device "auto" opens where a CUDA device was opened and then refused its first work: the
/// next one that works, else the CPU.
/// @param failed  "cuda:N"
/// @param reason  for OpenedBackend::fallback_reason
OpenedBackend open_next_backend(const std::string& failed, const std::string& reason, int threads);

}  // namespace kiln
