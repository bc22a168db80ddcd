// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// Asks the system for huge pages in whole pages of this memory, before it is written to. A process
/// then waits for the system once in 2 MiB and not once in 4 KiB. A system that has none gives
/// small pages.
KILN_API void advise_huge_pages(void* memory, std::size_t bytes) noexcept;

/// Memory for large arrays of numbers: in huge pages, and resize() writes nothing to it.
template <class T>
class LargeAllocator {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  using value_type = T;

  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    void* const memory = ::operator new(n * sizeof(T), alignment_of(n));
    if (is_large(n)) advise_huge_pages(memory, n * sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) noexcept { ::operator delete(memory, alignment_of(n)); }

  /// Without a value an element has none: whoever resizes writes it, on several threads perhaps.
  template <class U>
  void construct(U*) noexcept {}
  template <class U, class... Values>
  void construct(U* element, Values&&... values) {
    ::new (static_cast<void*>(element)) U(std::forward<Values>(values)...);
  }

  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }

 private:
  static constexpr std::size_t huge_page = std::size_t{1} << 21;
  static bool is_large(std::size_t n) { return n * sizeof(T) >= 2 * huge_page; }
  static std::align_val_t alignment_of(std::size_t n) {
    return std::align_val_t{is_large(n) ? huge_page : alignof(std::max_align_t)};
  }
};

/// An array that may be large, whose elements have no value after resize().
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

/// reserve(), with huge pages.
template <class T>
void reserve_large(std::vector<T>& values, std::size_t n) {
  if (n <= values.capacity()) return;
  values.reserve(n);
  std::byte* const begin = reinterpret_cast<std::byte*>(values.data());
  const std::size_t used = values.size() * sizeof(T);
  advise_huge_pages(begin + used, n * sizeof(T) - used);
}

}  // namespace kiln
