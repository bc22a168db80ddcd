// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kiln::cpu {

/// Writes the places 0 .. n - 1 in ascending order of key(place), equal keys in ascending order of
/// places.
template <class Key>
void sort_places(std::int64_t n, std::int32_t* places, Key&& key) {
  struct Keyed {
    decltype(key(std::int64_t{0})) value;
    std::int32_t place;
    bool operator<(const Keyed& other) const {
      return value != other.value ? value < other.value : place < other.place;
    }
  };
  std::vector<Keyed> keyed(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    keyed[static_cast<std::size_t>(i)] = {key(i), static_cast<std::int32_t>(i)};
  }
  std::sort(keyed.begin(), keyed.end());
  for (std::int64_t i = 0; i < n; ++i) places[i] = keyed[static_cast<std::size_t>(i)].place;
}

}  // namespace kiln::cpu
