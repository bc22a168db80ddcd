// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kiln/backend.hpp"

namespace kiln {

/// The CPU backend. @param threads 0 means all that the process may use.
std::shared_ptr<Backend> make_cpu_backend(int threads);

}  // namespace kiln
