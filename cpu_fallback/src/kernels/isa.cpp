// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "isa.hpp"

#include <cstdlib>
#include <string_view>

namespace kiln::cpu {

Isa chosen_isa() {
#if defined(KILN_X86_64) && KILN_X86_64
  const char* wish = std::getenv("KILN_CPU_ISA");
  const std::string_view wanted = wish != nullptr ? wish : "";
  if (wanted == "baseline") return Isa::baseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (wanted != "avx2" && avx512) return Isa::avx512;
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("fma");
  if (avx2) return Isa::avx2;
#endif
  return Isa::baseline;
}

const char* isa_name() {
#if defined(KILN_X86_64) && KILN_X86_64
  switch (chosen_isa()) {
    case Isa::avx512:
      return "AVX-512";
    case Isa::avx2:
      return "AVX2";
    case Isa::baseline:
      break;
  }
  return "SSE2";
#else
  return "scalar";
#endif
}

}  // namespace kiln::cpu
