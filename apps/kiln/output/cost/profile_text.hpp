// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/profile.hpp"

namespace kiln::cli {

/// Where the time of a run went: a sentence, and a table of the kernels of 79 columns at most.
std::string profile_text(const Profile& profile);

}  // namespace kiln::cli
