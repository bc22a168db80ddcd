// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln::cli {

/// The text as a content security policy names it: "sha256-" and its SHA-256 digest in base 64.
std::string policy_hash(std::string_view text);

}  // namespace kiln::cli
