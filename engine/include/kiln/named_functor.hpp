// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kiln/export.hpp"

namespace kiln {

/// The number of a functor type within this process, assigned to its name at the first call. Shared
/// libraries that name the same type get the same number. Thread-safe.
/// @param family  "density" or "vector function"
/// @param name  of the type, unique within its family
KILN_API std::uint32_t functor_number(const char* family, const char* name);

/// A functor by value, with the number of its type. Kernels carry it to the backend, which has
/// launchers for the type in its KernelSets; so the engine depends on no functor type.
/// @tparam Family  DensityFamily or VectorFunctionFamily
template <class Family>
class NamedFunctor {
 public:
  static constexpr std::size_t capacity = 256;  ///< largest size of a functor in bytes
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  NamedFunctor() = default;
  /// @tparam Functor  has a static member `name`, unique within its family
  template <class Functor>
  requires requires { Functor::name; }
  explicit NamedFunctor(const Functor& functor) : number_(number_of<Functor>()) {
    static_assert(std::is_trivially_copyable_v<Functor> && sizeof(Functor) <= capacity &&
                  alignof(Functor) <= alignof(double));
    std::memcpy(bytes_, &functor, sizeof(Functor));
  }

  template <class Functor>
  static std::uint32_t number_of() {
    static const std::uint32_t number = functor_number(Family::name, Functor::name);
    return number;
  }

  /// functor_number() of the type; `none` if there is no functor.
  std::uint32_t number() const { return number_; }
  /// The functor, for the launchers of its type.
  const void* functor() const { return bytes_; }

 private:
  std::uint32_t number_ = none;
  alignas(double) unsigned char bytes_[capacity] = {};
};

}  // namespace kiln
