// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/version.hpp"

namespace kiln {

const char* version() noexcept { return "0.1.0"; }

}  // namespace kiln
