// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/memory_reserve.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace kiln::cli {
namespace {

constexpr std::size_t reserve_bytes = std::size_t{1} << 20;
// The context of zstd, a block before and after it, and a piece of an array: 5 MiB. The thread that
// compresses has a stack of 8 MiB, but can be done without.
constexpr std::size_t checkpoint_bytes = std::size_t{16} << 20;
constexpr std::size_t min_checkpoint_bytes = std::size_t{6} << 20;
std::atomic<void*> reserve{nullptr}, checkpoint_room{nullptr};

void give_reserve() {
  void* const memory = reserve.exchange(nullptr);
  if (memory == nullptr) throw std::bad_alloc();
  std::free(memory);
}

}  // namespace

void keep_memory_back() {
  if (memory_is_kept_back()) std::set_new_handler(give_reserve);
  static_cast<void>(has_room_for_checkpoint());
}

bool memory_is_kept_back() noexcept {
  if (reserve != nullptr) return true;
  void* memory = std::malloc(reserve_bytes);
  void* none = nullptr;
  // Another thread may have been faster.
  if (memory != nullptr && !reserve.compare_exchange_strong(none, memory)) std::free(memory);
  return reserve != nullptr;
}

bool has_room_for_checkpoint() noexcept {
  for (const std::size_t bytes : {checkpoint_bytes, min_checkpoint_bytes}) {
    if (checkpoint_room == nullptr) checkpoint_room = std::malloc(bytes);
  }
  return checkpoint_room != nullptr;
}

void give_room_for_checkpoint() noexcept { std::free(checkpoint_room.exchange(nullptr)); }

}  // namespace kiln::cli
