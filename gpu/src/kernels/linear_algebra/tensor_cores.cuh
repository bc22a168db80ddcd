// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The instructions that the matrix kernels use.
///
/// A matrix product of a warp: lane l has group g = l / 4 and place t = l % 4, and of D = A B + C
///   A (16 x 8)  a0: (g, t)   a1: (g + 8, t)   a2: (g, t + 4)   a3: (g + 8, t + 4)
///   B (8 x 8)   b0: (t, g)   b1: (t + 4, g)
///   C (16 x 8)  c0: (g, 2t)  c1: (g, 2t + 1)  c2: (g + 8, 2t)  c3: (g + 8, 2t + 1)
/// and of the smaller one in double, of 8 x 4 and 4 x 8: a: (g, t), b: (t, g), c0: (g, 2t),
/// c1: (g, 2t + 1).
namespace kiln::cuda {

/// A float as an operand of TF32: sign, exponent, and the first 10 bits of the mantissa.
__device__ inline std::uint32_t tf32_bits(float x) {
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

/// D = A B + C in TF32 with sums in single precision. The last 13 bits of plain float operands are
/// truncated.
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The 8 x 4 x 8 product in double.
__device__ inline void multiply_add(double (&c)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/// The 16 x 8 x 8 product in double: one instruction from compute capability 9.0 on, four before.
__device__ inline void multiply_add(double (&c)[4], const double (&a)[4], double b0, double b1) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
#else
  double upper[2] = {c[0], c[1]}, lower[2] = {c[2], c[3]};
  multiply_add(upper, a[0], b0);
  multiply_add(upper, a[2], b1);
  multiply_add(lower, a[1], b0);
  multiply_add(lower, a[3], b1);
  c[0] = upper[0], c[1] = upper[1], c[2] = lower[0], c[3] = lower[1];
#endif
}

/// Starts to copy `bytes` = 8 or 16 from device memory to shared memory; if `there` is false it
/// writes zeros and reads nothing. Copies are waited for in groups.
template <int bytes>
__device__ inline void copy_to_shared(void* to, const void* from, bool there = true) {
  const auto target = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int size = there ? bytes : 0;
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target), "l"(from), "r"(size)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :
                 : "r"(target), "l"(from), "r"(size)
                 : "memory");
  }
}
__device__ inline void end_group_of_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most `n` groups of this thread's copies are in flight.
template <int n>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

}  // namespace kiln::cuda
