// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"

namespace kiln::cpu {

/// The instruction sets that kernels have variants for (NAME_avx2.cpp, NAME_avx512.cpp).
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

/// The widest instruction set of this processor. KILN_CPU_ISA=baseline or avx2 in the environment
/// selects a narrower one, for tests that compare bits.
Isa chosen_isa();
/// Its name for display: "AVX2".
KILN_TEST_API const char* isa_name();

/// Of three variants the one for chosen_isa().
template <class T>
const T& variant_for_isa(const T& baseline, const T& avx2, const T& avx512) {
  switch (chosen_isa()) {
    case Isa::avx512:
      return avx512;
    case Isa::avx2:
      return avx2;
    case Isa::baseline:
      break;
  }
  return baseline;
}

/// The variant NAME_baseline, NAME_avx2 or NAME_avx512 for this processor; other processors than
/// x86-64 have the first alone.
#if defined(KILN_X86_64) && KILN_X86_64
#define KILN_VARIANT_FOR_ISA(name) \
  ::kiln::cpu::variant_for_isa(name##_baseline, name##_avx2, name##_avx512)
#else
#define KILN_VARIANT_FOR_ISA(name) (name##_baseline)
#endif

}  // namespace kiln::cpu
