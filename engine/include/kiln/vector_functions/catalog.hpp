// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kiln/device/hd.hpp"

// Every vector function that comes with Kiln: X(type) for each, with its header
// kiln/vector_functions/<name>.hpp. Each is compiled once per backend, in
// cpu_fallback/src/vector_functions and gpu/src/vector_functions.
#define KILN_VECTOR_FUNCTIONS(X) \
  X(Zdt)                         \
  X(Dtlz)                        \
  X(Wfg)                         \
  X(EngineeringDesign)           \
  X(Knapsack)                    \
  X(CutPair)                     \
  X(Routing)

namespace kiln {

#define KILN_DECLARE(type) struct type;
KILN_VECTOR_FUNCTIONS(KILN_DECLARE)
#undef KILN_DECLARE

enum class VectorFunctionId : std::uint32_t {
#define KILN_ID(type) type,
  KILN_VECTOR_FUNCTIONS(KILN_ID)
#undef KILN_ID
};

template <class Function>
struct VectorFunctionIdOf;
#define KILN_ID_OF(type)                                              \
  template <>                                                         \
  struct VectorFunctionIdOf<type> {                                   \
    static constexpr VectorFunctionId value = VectorFunctionId::type; \
  };
KILN_VECTOR_FUNCTIONS(KILN_ID_OF)
#undef KILN_ID_OF

/// A vector function of the catalogue by value: which one, and its bytes.
struct VectorFunctionRef {
  static constexpr std::size_t capacity = 256;

  VectorFunctionId id{};
  alignas(8) unsigned char bytes[capacity] = {};

  VectorFunctionRef() = default;
  template <class Function>
  requires requires { VectorFunctionIdOf<Function>::value; }
  explicit VectorFunctionRef(const Function& function) : id(VectorFunctionIdOf<Function>::value) {
    static_assert(std::is_trivially_copyable_v<Function> && sizeof(Function) <= capacity &&
                  alignof(Function) <= 8);
    std::memcpy(bytes, &function, sizeof(Function));
  }
  template <class Function>
  Function as() const {
    static_assert(std::is_trivially_copyable_v<Function>);
    Function function;
    std::memcpy(&function, bytes, sizeof(Function));
    return function;
  }
};

}  // namespace kiln
