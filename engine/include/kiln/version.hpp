// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"

namespace kiln {
/// "0.1.0"
KILN_API const char* version() noexcept;
}  // namespace kiln
