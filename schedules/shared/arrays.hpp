// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace kiln {

/// `size` times the same value, to begin an array with.
template <class T>
std::vector<T> filled(std::int64_t size, T value) {
  return std::vector<T>(static_cast<std::size_t>(size), value);
}

}  // namespace kiln
