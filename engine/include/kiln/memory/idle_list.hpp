// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace kiln {

/// What queues of a device leave for later ones: each is used by one queue at a time. Thread-safe.
template <class T>
class IdleList {
 public:
  /// The one that was left last, or null.
  std::unique_ptr<T> take() noexcept {
    const std::lock_guard lock(mutex_);
    return count_ == 0 ? nullptr : std::move(idle_[--count_]);
  }
  /// Where there are many, the one that lies longest goes.
  void give(std::unique_ptr<T> one) noexcept {
    std::unique_ptr<T> oldest;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    if (count_ == idle_.size()) {
      oldest = std::move(idle_.front());
      std::move(idle_.begin() + 1, idle_.end(), idle_.begin());
      --count_;
    }
    idle_[count_++] = std::move(one);
  }
  /// Exchanges `own` for the smallest that `suffices` and is smaller, or for any that does if it
  /// does not itself.
  template <class Suffices, class Bytes>
  void exchange(std::unique_ptr<T>& own, const Suffices& suffices, const Bytes& bytes) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (!suffices(*idle_[i])) continue;
      if (!suffices(*own) || bytes(*idle_[i]) < bytes(*own)) std::swap(own, idle_[i]);
    }
  }
  void clear() noexcept {
    while (take() != nullptr) {
    }
  }
  /// Whether one of them `suffices`.
  template <class Suffices>
  bool any(const Suffices& suffices) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(idle_.begin(), idle_.begin() + count_,
                       [&](const std::unique_ptr<T>& one) { return suffices(*one); });
  }
  /// The sum of what `bytes` says of each.
  template <class Bytes>
  std::uint64_t sum(const Bytes& bytes) const {
    const std::lock_guard lock(mutex_);
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < count_; ++i) all += bytes(*idle_[i]);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::array<std::unique_ptr<T>, 16> idle_;
  std::size_t count_ = 0;
};

}  // namespace kiln
