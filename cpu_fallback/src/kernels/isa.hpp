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

}  // namespace kiln::cpu
