// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace kiln::cli {

/// Whether a process that this machine can see holds the lock of a run folder, as a run does for as
/// long as it lives. Nothing where the file system has no locks, or the folder cannot be opened.
std::optional<bool> is_claimed(const std::string& folder);

}  // namespace kiln::cli
