// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::cli {

/// The SHA-256 digest of a text.
/// @par Source  FIPS 180-4, section 6.2.
std::array<std::uint8_t, 32> sha256(std::string_view text);

/// The text as a content security policy names it: "sha256-" and the digest in base 64.
std::string policy_hash(std::string_view text);

}  // namespace kiln::cli
