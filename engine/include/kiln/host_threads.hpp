// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/function_ref.hpp"

namespace kiln {

/// Number of processors that the process may use: those of taskset and the like, as far as a
/// control group (a container) grants them. At least 1.
KILN_API int granted_processors();

/// More threads than these, a few for each processor, only wait for each other.
KILN_API int max_threads();

/// Limits the number of threads on which loops of the calling thread run, while the object lives.
class KILN_API HostThreads {
 public:
  /// @param threads  0: no limit; more than max_threads() count as these. A limit that holds
  /// already
  ///   is never raised.
  explicit HostThreads(int threads);
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  /// The limit of the calling thread, or granted_processors() without one.
  static int count();

 private:
  int before_;
};

/// Runs task(0) .. task(count - 1), each once and in any order, on the calling thread and on up to
/// `threads` - 1 threads that it starts. Loops inside a task run on its thread alone. Returns when
/// all are done; rethrows the first exception, after which calls that had not begun are left out.
KILN_API void for_each_on_threads(int threads, std::int64_t count,
                                  FunctionRef<void(std::int64_t)> task);

/// Elements of an array that are worth a task for a thread, at a few operations for each.
inline constexpr std::int64_t elements_for_a_thread = std::int64_t{1} << 16;

/// Calls task(begin, end, block) for the blocks of 0 .. n - 1, each of `block_size` but the last,
/// which are worth a task; on HostThreads::count() threads, or on one where there are few blocks.
/// The blocks do not depend on the number of threads. So neither do results that are joined in the
/// order of the blocks.
template <class Task>
void for_each_block(std::int64_t n, const Task& task,
                    std::int64_t block_size = elements_for_a_thread) {
  constexpr std::int64_t few = 4;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  const auto run = [&](std::int64_t block) {
    task(block * block_size, std::min(n, (block + 1) * block_size), block);
  };
  for_each_on_threads(blocks < few ? 1 : HostThreads::count(), blocks, run);
}

/// What `of(begin, end)` returns for each block, in their order.
template <class Of>
auto of_each_block(std::int64_t n, const Of& of, std::int64_t block_size = elements_for_a_thread) {
  using Value = decltype(of(n, n));
  std::vector<Value> values(static_cast<std::size_t>((n + block_size - 1) / block_size));
  for_each_block(
      n,
      [&](std::int64_t begin, std::int64_t end, std::int64_t block) {
        values[static_cast<std::size_t>(block)] = of(begin, end);
      },
      block_size);
  return values;
}

}  // namespace kiln
