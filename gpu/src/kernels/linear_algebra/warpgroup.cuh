// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

/// Instructions of compute capability 9.0: matrix products of a group of four warps from shared
/// memory, bulk copies of whole blocks, and the barriers that order both. PTX ISA 8.0 and later,
/// sections wgmma, cp.async.bulk and mbarrier. Only code for sm_90a may call them.
namespace kiln::cuda {

inline __device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// A barrier of shared memory with phases: a phase ends when all arrivals and all announced bytes
/// have come.
using PhaseBarrier = std::uint64_t;

inline __device__ void start_barrier(PhaseBarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
/// Makes started barriers known to copies.
inline __device__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
inline __device__ void arrive_and_expect(PhaseBarrier* barrier, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
inline __device__ void arrive(PhaseBarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
/// Waits for the end of the phase of this parity, the first phase has parity 0.
inline __device__ void wait_for_phase(PhaseBarrier* barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra.uni end;\n"
      "bra.uni again;\n"
      "end:\n"
      "}"
      :
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
}

/// Copies `bytes`, a multiple of 16, from device memory to shared memory; they count for `barrier`.
inline __device__ void copy_block(void* to, const void* from, std::uint32_t bytes,
                                  PhaseBarrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
/// Copies shared memory, which ordinary writes have filled, to device memory and waits until it is
/// there. Writes of other threads need fence_for_copies() and a barrier before.
inline __device__ void store_block(void* to, const void* from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
/// Orders ordinary accesses to memory before bulk copies that follow.
inline __device__ void fence_for_copies() { asm volatile("fence.proxy.async;" ::: "memory"); }

/// Waits for `threads` threads of the block, at one of its barriers 1 to 15.
inline __device__ void wait_for_threads(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

template <int registers>
inline __device__ void grow_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
inline __device__ void shrink_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Rows of 128 bytes in shared memory, at a multiple of 1024 bytes: the 16 bytes c of row r lie at
/// place c ^ (r % 8) of their row. A product takes 32 bytes of the rows.
inline __device__ std::uint64_t rows_of_128_bytes(std::uint32_t address) {
  constexpr std::uint64_t eight_rows = 1024, swizzle_of_128 = 1;
  return (address & 0x3ffffu) >> 4 | 1ull << 16 | eight_rows >> 4 << 32 | swizzle_of_128 << 62;
}

inline __device__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
inline __device__ void end_group_of_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int in_flight>
inline __device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(in_flight) : "memory");
}

/// Types of the operands of products; bytes of one, and of the sums.
struct Int8Operand {
  static constexpr int bytes = 1;
  using Sum = std::int32_t;
};
struct Float16Operand {
  static constexpr int bytes = 2;
  using Sum = float;
};
struct Bfloat16Operand {
  static constexpr int bytes = 2;
  using Sum = float;
};
struct Tf32Operand {
  static constexpr int bytes = 4;
  using Sum = float;
};

// The sums of a thread as operands of an instruction, and their names in it.
#define KILN_SUMS_8(how, d, i)                                                         \
  how(d[(i) + 0]), how(d[(i) + 1]), how(d[(i) + 2]), how(d[(i) + 3]), how(d[(i) + 4]), \
      how(d[(i) + 5]), how(d[(i) + 6]), how(d[(i) + 7])
#define KILN_SUMS_32(how, d, i)                                                        \
  KILN_SUMS_8(how, d, i), KILN_SUMS_8(how, d, (i) + 8), KILN_SUMS_8(how, d, (i) + 16), \
      KILN_SUMS_8(how, d, (i) + 24)
#define KILN_SUMS_64(how, d) KILN_SUMS_32(how, d, 0), KILN_SUMS_32(how, d, 32)
#define KILN_SUMS_128(how, d) \
  KILN_SUMS_64(how, d), KILN_SUMS_32(how, d, 64), KILN_SUMS_32(how, d, 96)
#define KILN_NAMES_64                                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define KILN_NAMES_128                                                                         \
  KILN_NAMES_64                                                                                \
  ", "                                                                                         \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "           \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "           \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
  "%111, "                                                                                     \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
  "%127"

// One instruction: `with` is 64 or 128 sums of a thread, for 128 or 256 columns.
#define KILN_PRODUCT(instruction, how, with, a_name, b_name, p_name, behind)            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " p_name                               \
               ", 0;\nwgmma.mma_async.sync.aligned." instruction " {" KILN_NAMES_##with \
               "}, " a_name ", " b_name ", p" behind ";\n}"                             \
               : KILN_SUMS_##with(how, sum)                                             \
               : "l"(a), "l"(b), "r"(add))
#define KILN_PRODUCT_64(instruction, how, behind) \
  KILN_PRODUCT(instruction, how, 64, "%64", "%65", "%66", behind)
#define KILN_PRODUCT_128(instruction, how, behind) \
  KILN_PRODUCT(instruction, how, 128, "%128", "%129", "%130", behind)

/// sum = A B, or sum += A B where `add` is not 0, for 64 rows of A and `columns` rows of B, each
/// with 32 bytes along the inner dimension. Thread t of the group has of row 16 (t / 32) + t % 32 /
/// 4 the columns 8 j + 2 (t % 4) + {0, 1} in sum[4 j + {0, 1}], and of the row 8 below in sum[4 j +
/// {2, 3}].
template <class Operand, int columns>
inline __device__ void multiply(typename Operand::Sum (&sum)[columns / 2], std::uint64_t a,
                                std::uint64_t b, int add) {
  static_assert(columns == 128 || columns == 256);
#define KILN_BOTH_WIDTHS(shape, types, how, behind)           \
  if constexpr (columns == 128) {                             \
    KILN_PRODUCT_64("m64n128" shape "." types, how, behind);  \
  } else {                                                    \
    KILN_PRODUCT_128("m64n256" shape "." types, how, behind); \
  }
  if constexpr (std::is_same_v<Operand, Int8Operand>) {
    KILN_BOTH_WIDTHS("k32", "s32.s8.s8", "+r", "")
  } else if constexpr (std::is_same_v<Operand, Float16Operand>) {
    KILN_BOTH_WIDTHS("k16", "f32.f16.f16", "+f", ", 1, 1, 0, 0")
  } else if constexpr (std::is_same_v<Operand, Bfloat16Operand>) {
    KILN_BOTH_WIDTHS("k16", "f32.bf16.bf16", "+f", ", 1, 1, 0, 0")
  } else {
    KILN_BOTH_WIDTHS("k8", "f32.tf32.tf32", "+f", ", 1, 1")
  }
#undef KILN_BOTH_WIDTHS
}

#undef KILN_PRODUCT_64
#undef KILN_PRODUCT_128
#undef KILN_PRODUCT
#undef KILN_NAMES_64
#undef KILN_NAMES_128
#undef KILN_SUMS_8
#undef KILN_SUMS_32
#undef KILN_SUMS_64
#undef KILN_SUMS_128

}  // namespace kiln::cuda
