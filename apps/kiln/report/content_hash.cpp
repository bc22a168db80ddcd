// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/content_hash.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "sha256.hpp"

namespace kiln::cli {
namespace {

using Digest = std::array<std::uint8_t, 32>;

Digest digest_of(std::string_view text) {
  problems::detail::Sha256 hash;
  hash.update(text);
  const std::string digits = hash.hex();
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* const at = digits.data() + 2 * i;
    std::from_chars(at, at + 2, digest[i], 16);
  }
  return digest;
}

std::string base64(const Digest& bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 3; ++j) group = group << 8 | (j < bytes.size() ? bytes[j] : 0U);
    for (const int shift : {18, 12, 6, 0}) text += digits[group >> shift & 63];
  }
  text.back() = '=';  // 32 bytes end one short of a group
  return text;
}

}  // namespace

std::string policy_hash(std::string_view text) { return "sha256-" + base64(digest_of(text)); }

}  // namespace kiln::cli
