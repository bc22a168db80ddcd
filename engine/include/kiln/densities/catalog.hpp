// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kiln/device/hd.hpp"

// Every density that comes with Kiln: X(type) for each, with its header kiln/densities/<name>.hpp.
// A density is compiled once per backend, in cpu_fallback/src/densities and gpu/src/densities.
#define KILN_DENSITIES(X)      \
  X(TestFunction)              \
  X(EightSchools)              \
  X(SamplingTarget)            \
  X(LinearRegression)          \
  X(ShrinkageLogistic)         \
  X(ItemResponse)              \
  X(StochasticVolatility)      \
  X(GaussianProcessRegression) \
  X(LotkaVolterra)             \
  X(GeneralizedLinear)

namespace kiln {

#define KILN_DECLARE(type) struct type;
KILN_DENSITIES(KILN_DECLARE)
#undef KILN_DECLARE

enum class DensityId : std::uint32_t {
#define KILN_ID(type) type,
  KILN_DENSITIES(KILN_ID)
#undef KILN_ID
};

template <class Density>
struct DensityIdOf;
#define KILN_ID_OF(type)                                \
  template <>                                           \
  struct DensityIdOf<type> {                            \
    static constexpr DensityId value = DensityId::type; \
  };
KILN_DENSITIES(KILN_ID_OF)
#undef KILN_ID_OF

/// A density of the catalogue by value: which one, and its bytes. Travels into kernels like the
/// views that it holds.
struct DensityRef {
  static constexpr std::size_t capacity = 256;

  DensityId id{};
  alignas(8) unsigned char bytes[capacity] = {};

  DensityRef() = default;
  template <class Density>
  requires requires { DensityIdOf<Density>::value; }
  explicit DensityRef(const Density& density) : id(DensityIdOf<Density>::value) {
    static_assert(std::is_trivially_copyable_v<Density> && sizeof(Density) <= capacity &&
                  alignof(Density) <= 8);
    std::memcpy(bytes, &density, sizeof(Density));
  }
  template <class Density>
  Density as() const {
    static_assert(std::is_trivially_copyable_v<Density>);
    Density density;
    std::memcpy(&density, bytes, sizeof(Density));
    return density;
  }
};

}  // namespace kiln
