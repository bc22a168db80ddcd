// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "kiln/errors.hpp"

namespace kiln::problems::detail {

/// Larger than any structure will be: what is beyond it was never initialised.
inline constexpr std::size_t largest_struct = 4096;

/// Refuses a size that no version of a structure has. The first version is the present one, so a
/// smaller structure does not exist.
inline void check_struct_size(std::size_t size, std::size_t own, const char* name) {
  if (size >= own && size <= largest_struct) return;
  throw InvalidArgument("interface.struct_size",
                        std::string(name) + "::struct_size is " + std::to_string(size),
                        "sizeof(" + std::string(name) + "), " + std::to_string(own) + " or more",
                        "begin with the function that makes an empty or a default one");
}

/// A copy of a caller's structure, whose first member is its size. It may be longer than ours, of a
/// later header, if what we do not know is zero.
/// @throws InvalidArgument `interface.struct_size`
template <class Struct>
Struct given_struct(const Struct& given, const char* name) {
  check_struct_size(given.struct_size, sizeof(Struct), name);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  if (std::any_of(bytes + sizeof(Struct), bytes + given.struct_size,
                  [](unsigned char byte) { return byte != 0; })) {
    throw InvalidArgument("interface.struct_size",
                          std::string(name) + " has a member that this version does not know",
                          "such members are zero", "use a later version of the library");
  }
  Struct copy;
  std::memcpy(&copy, &given, sizeof copy);
  return copy;
}

}  // namespace kiln::problems::detail
