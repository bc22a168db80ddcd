// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/export.hpp"

namespace kiln::problems::detail {

/// SHA-256 of a text that arrives in pieces. It identifies instances, and the script and the style
/// sheet of a report; it protects nothing. Exported for the program and the unit tests; the header
/// is not installed.
///
/// @par Source  NIST FIPS 180-4, sections 5.1.1, 5.3.3 and 6.2.
class KILN_API Sha256 {
 public:
  /// @param by_instructions  whether to use those that a processor may have for it
  explicit Sha256(bool by_instructions = true);

  void update(std::string_view bytes);

  /// The 64 hexadecimal digits, in lower case, of everything so far. The object can go on.
  std::string hex() const;

 private:
  using AddBlocks = void (*)(std::array<std::uint32_t, 8>& state, const unsigned char* blocks,
                             std::size_t count);

  AddBlocks add_blocks_;

  std::array<std::uint32_t, 8> state_{0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                      0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
  std::array<unsigned char, 64> pending_{};  // the first n_bytes_ % 64 are in use
  std::uint64_t n_bytes_ = 0;
};

}  // namespace kiln::problems::detail
