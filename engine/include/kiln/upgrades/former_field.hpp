// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace kiln {

/// A field of an aggregate in the version before. Programs may still set it, with a warning of the
/// compiler.
///
/// The attribute stands on the constructors: on the field itself GCC would warn of every
/// `Options{}`, which initialises all fields.
template <class T>
class FormerField {
 public:
  FormerField() = default;
  template <std::convertible_to<T> U>
  [[deprecated("moved: see the field")]] FormerField(U&& value) : given_(std::forward<U>(value)) {}

  /// The value, if the program set one.
  const std::optional<T>& given() const noexcept { return given_; }

 private:
  std::optional<T> given_;
};

template <class T>
class FormerField<std::vector<T>> {
 public:
  FormerField() = default;
  [[deprecated("moved: see the field")]] FormerField(std::vector<T> values)
      : given_(std::move(values)) {}
  [[deprecated("moved: see the field")]] FormerField(std::initializer_list<T> values)
      : given_(values) {}

  /// The values, if the program set any.
  std::optional<std::vector<T>> given() const {
    return given_.empty() ? std::nullopt : std::optional(given_);
  }

 private:
  std::vector<T> given_;
};

}  // namespace kiln
