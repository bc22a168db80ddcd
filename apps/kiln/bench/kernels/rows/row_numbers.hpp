// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/queue.hpp"

namespace kiln::cli {

/// Sizes of the cases: of what a launch reads and writes.
struct RowSize {
  std::string name;
  std::int64_t bytes = 0;
};
inline std::vector<RowSize> row_sizes() {
  return {{"1 MB", std::int64_t{1} << 20},
          {"64 MB", std::int64_t{1} << 26},
          {"1 GB", std::int64_t{1} << 30}};
}

/// Numbers in [-1, 1) that repeat after 65,536 of them.
template <class T>
DeviceArray<T> row_numbers(Queue& queue, std::int64_t size) {
  DeviceArray<T> all(queue, size);
  std::vector<T> few;
  std::uint64_t word = 1;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(size, 65536); ++i) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    few.push_back(static_cast<T>(static_cast<double>(word >> 11) * 0x1p-52 - 1));
  }
  std::int64_t done = static_cast<std::int64_t>(few.size());
  if (done > 0) queue.upload(all.data(), few.data(), few.size() * sizeof(T));
  while (done < size) {
    const std::int64_t next = std::min(done, size - done);
    queue.copy(all.data() + done, all.data(), static_cast<std::size_t>(next) * sizeof(T));
    done += next;
  }
  return all;
}

}  // namespace kiln::cli
