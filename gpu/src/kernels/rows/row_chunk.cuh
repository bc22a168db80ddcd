// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "kiln/device/rows/row_tree.hpp"
#include "kiln/kernels/rows/elements.hpp"

#include "kernels/grid.cuh"

// A chunk of a row, for a warp (kiln/device/rows/row_tree.hpp).
namespace kiln::cuda {

/// 16 bytes that are read once: they leave the first cache to what is read again.
template <class T>
struct alignas(16) Run {
  static constexpr int size = 16 / static_cast<int>(sizeof(T));
  T of[size];
};

template <class T>
__device__ inline Run<T> read_once(const T* at) {
  Run<T> run;
  unsigned w[4];
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
               : "l"(at)
               : "memory");
  std::memcpy(&run, w, sizeof run);
  return run;
}

template <class Value>
__device__ inline Value exchanged(const Value& value, int apart) {
  static_assert(sizeof(Value) % sizeof(unsigned) == 0);
  constexpr int words = sizeof(Value) / sizeof(unsigned);
  unsigned all[words];
  std::memcpy(all, &value, sizeof value);
#pragma unroll
  for (int i = 0; i < words; ++i) all[i] = __shfl_xor_sync(full_warp, all[i], apart);
  Value other;
  std::memcpy(&other, all, sizeof other);
  return other;
}

/// One of two values. By words: a choice between objects would put them into memory.
template <class Value>
__device__ inline Value chosen(bool first, const Value& a, const Value& b) {
  constexpr int words = sizeof(Value) / sizeof(unsigned);
  unsigned of_a[words], of_b[words];
  std::memcpy(of_a, &a, sizeof a);
  std::memcpy(of_b, &b, sizeof b);
#pragma unroll
  for (int i = 0; i < words; ++i) of_a[i] = first ? of_a[i] : of_b[i];
  Value value;
  std::memcpy(&value, of_a, sizeof value);
  return value;
}

/// Merges the parts of two lanes; that of the lane without the bit comes first. Both get the
/// result.
template <class Part>
__device__ inline Part merged(const Part& part, int apart) {
  const bool second = (static_cast<int>(threadIdx.x) & apart) != 0;
  const Part other = exchanged(part, apart);
  Part left = chosen(second, other, part);
  left.merge(chosen(second, part, other));
  return left;
}
/// The same for two parts of each lane: the lane without the bit gets the lower one.
template <class Part>
__device__ inline Part divided(const Part& lower, const Part& upper, int apart) {
  const bool second = (static_cast<int>(threadIdx.x) & apart) != 0;
  const Part mine = chosen(second, upper, lower);
  const Part other = exchanged(chosen(second, lower, upper), apart);
  Part left = chosen(second, other, mine);
  left.merge(chosen(second, mine, other));
  return left;
}

/// How the 128 accumulators of a chunk lie in the lanes of a warp, four in each: those of 16 bytes
/// are neighbours. Slot s of round j is element place(j, s).
template <class T>
struct LaneSlots {
  static constexpr int run = Run<T>::size;  // 2 or 4
  static constexpr int slots = RowTree::accumulators / warp_size;
  static_assert(slots == 4);

  __device__ static int place(int round, int slot) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    return round * RowTree::accumulators + slot / run * (warp_size * run) + lane * run + slot % run;
  }
  /// The tree over accumulators; all lanes get the result.
  template <class Part>
  __device__ static Part merge(Part (&part)[slots]) {
    Part all;
    if constexpr (run == 2) {  // accumulators 2 lane, 2 lane + 1, and those 64 above
      part[0].merge(part[2]);
      part[1].merge(part[3]);
      all = divided(part[0], part[1], 16);
#pragma unroll
      for (int apart = 8; apart > 0; apart /= 2) all = merged(all, apart);
      return merged(all, 16);
    } else {  // 4 lane .. 4 lane + 3
      const Part lower = divided(part[0], part[2], 16), upper = divided(part[1], part[3], 16);
      all = divided(lower, upper, 8);
#pragma unroll
      for (int apart = 4; apart > 0; apart /= 2) all = merged(all, apart);
      all = merged(all, 16);
      return merged(all, 8);
    }
  }
};

/// Where a chunk lies. It is read 16 bytes at a time if it is whole and `runs` says so.
template <class T>
struct ChunkPlace {
  const T* first = nullptr;
  std::int64_t step = 1;
  int count = 0;
  bool runs = false;

  __device__ ChunkPlace(const Elements& from, std::int64_t row, std::int64_t chunk, bool runs_)
      : first(static_cast<const T*>(from.at(row, chunk * RowTree::chunk))),
        step(from.step),
        count(RowTree::elements_of(chunk, from.columns)),
        runs(runs_ && count == RowTree::chunk) {}

  /// The elements of some rounds; those beyond the end are 0.
  template <int rounds>
  __device__ void read(int begin, T (&values)[rounds * 4]) const {
    using Slots = LaneSlots<T>;
    if (runs) {
#pragma unroll
      for (int i = 0; i < rounds * 4; i += Slots::run) {
        const Run<T> run = read_once(first + Slots::place(begin + i / 4, i % 4));
#pragma unroll
        for (int e = 0; e < Slots::run; ++e) values[i + e] = run.of[e];
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < rounds * 4; ++i) {
      const int place = Slots::place(begin + i / 4, i % 4);
      values[i] = place < count ? first[place * step] : T{0};
    }
  }
};

__device__ inline double as_double(double value) { return value; }
/// Made anew in each pass: all elements as doubles would not fit registers.
__device__ inline double as_double(float value) {
  double wide;
  asm volatile("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(value));
  return wide;
}

/// A chunk that a warp holds, 32 elements in each lane.
template <class T>
struct HeldChunk {
  T values[RowTree::rounds * 4];
  int count = 0;

  __device__ explicit HeldChunk(const ChunkPlace<T>& from) : count(from.count) {
    from.template read<RowTree::rounds>(0, values);
  }
  __device__ double front() const {
    return __shfl_sync(full_warp, static_cast<double>(values[0]), 0);
  }
  /// Values beyond the end are 0, for which f gives 0.
  template <class Function>
  __device__ std::uint32_t largest(const Function& f) const {
    std::uint32_t all = 0;
#pragma unroll
    for (int i = 0; i < RowTree::rounds * 4; ++i) {
      all = max(all, f(as_double(values[i])));
    }
    return __reduce_max_sync(full_warp, all);
  }
  template <class Part, class Take>
  __device__ Part fold(const Part& identity, const Take& take) const {
    using Slots = LaneSlots<T>;
    Part part[4] = {identity, identity, identity, identity};
    if (count == RowTree::chunk) {
#pragma unroll
      for (int i = 0; i < RowTree::rounds * 4; ++i) {
        take(part[i % 4], as_double(values[i]), 0.0);
      }
    } else {
#pragma unroll
      for (int i = 0; i < RowTree::rounds * 4; ++i) {
        if (Slots::place(i / 4, i % 4) < count) {
          take(part[i % 4], as_double(values[i]), 0.0);
        }
      }
    }
    return Slots::merge(part);
  }
};

/// A chunk beside one of another matrix, of which a part is read at a time: both would not fit
/// registers. A chunk of floats fits, so that more of it is on its way.
template <class T, class Other>
struct PairedChunk {
  static constexpr int rounds_at_once = 4;
  static constexpr int rounds_held = sizeof(T) == 4 ? RowTree::rounds : rounds_at_once;
  ChunkPlace<T> place;
  const Other* other = nullptr;
  std::int64_t other_step = 1;
  bool other_runs = false;  // a whole chunk can be read some numbers at a time

  /// The numbers beside those of some rounds; those beyond the end are 0.
  __device__ void read_other(int begin, Other (&y)[rounds_at_once * 4]) const {
    using Slots = LaneSlots<T>;
    // Neighbouring slots are neighbours; read by 16 bytes, they are read by few instructions.
    constexpr int run = Run<Other>::size < Slots::run ? Run<Other>::size : Slots::run;
    struct alignas(run * sizeof(Other)) Few {
      Other of[run];
    };
    if (place.runs && other_runs) {
#pragma unroll
      for (int i = 0; i < rounds_at_once * 4; i += run) {
        const Few few = *reinterpret_cast<const Few*>(other + Slots::place(begin + i / 4, i % 4));
#pragma unroll
        for (int e = 0; e < run; ++e) y[i + e] = few.of[e];
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < rounds_at_once * 4; ++i) {
      const int at = Slots::place(begin + i / 4, i % 4);
      y[i] = at < place.count ? other[at * other_step] : Other{0};
    }
  }

  template <class Part, class Take>
  __device__ Part fold(const Part& identity, const Take& take) const {
    using Slots = LaneSlots<T>;
    Part part[4] = {identity, identity, identity, identity};
    T x[rounds_held * 4];
#pragma unroll
    for (int begin = 0; begin < RowTree::rounds; begin += rounds_at_once) {
      if (begin % rounds_held == 0) place.template read<rounds_held>(begin, x);
      Other y[rounds_at_once * 4];
      read_other(begin, y);
#pragma unroll
      for (int i = 0; i < rounds_at_once * 4; ++i) {
        if (place.runs || Slots::place(begin + i / 4, i % 4) < place.count) {
          const T value = x[begin % rounds_held * 4 + i];
          take(part[i % 4], static_cast<double>(value), static_cast<double>(y[i]));
        }
      }
    }
    return Slots::merge(part);
  }
};

}  // namespace kiln::cuda
