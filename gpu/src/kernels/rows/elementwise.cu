// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/errors.hpp"
#include "kiln/kernels/rows/elementwise.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int runs_of_thread = 4;
constexpr std::int64_t short_row = 1024;

// A thread takes runs of neighbouring elements of a tile, of 16 bytes in the wider type.
template <ElementType in, ElementType out>
struct TileOf {
  static constexpr int run = in == ElementType::float64 || out == ElementType::float64 ? 2 : 4;
  static constexpr int elements_of_thread = run * runs_of_thread;
  static constexpr std::int64_t size = std::int64_t{block_size} * elements_of_thread;
};

// How values of a type are stored, and the type in which nothing of them is lost.
template <ElementType type>
struct Storage {
  using Stored = std::uint16_t;
  using Exact = float;
};
template <>
struct Storage<ElementType::float64> {
  using Stored = double;
  using Exact = double;
};
template <>
struct Storage<ElementType::float32> {
  using Stored = float;
  using Exact = float;
};

template <ElementType type>
__device__ inline typename Storage<type>::Exact widened(typename Storage<type>::Stored stored) {
  if constexpr (type == ElementType::float16) {
    return ::kiln::detail::float_of_half(stored);
  } else if constexpr (type == ElementType::bfloat16) {
    return __uint_as_float(static_cast<std::uint32_t>(stored) << 16);
  } else {
    return stored;
  }
}

// The same bits as write_element() gives, of a float without the way over a double.
template <ElementType type, class Exact>
__device__ inline typename Storage<type>::Stored narrowed(Exact value) {
  if constexpr (type == ElementType::float64) {
    return canonical(static_cast<double>(value));
  } else if constexpr (type == ElementType::float32) {
    return value != value ? round_single(exact::not_a_number()) : static_cast<float>(value);
  } else {
    float single = 0;
    if constexpr (sizeof(Exact) == sizeof(double)) {
      single = ::kiln::detail::odd_float(value);
    } else {
      single = value;
    }
    if constexpr (type == ElementType::float16) {
      return value != value ? std::uint16_t{0x7E00} : ::kiln::detail::half_of(single);
    } else {
      return value != value ? std::uint16_t{0x7FC0} : ::kiln::detail::bfloat16_of(single);
    }
  }
}

template <class Stored, int run>
struct alignas(run * sizeof(Stored)) StoredRun {
  Stored of[run];
};

// Matrices of which runs lie at multiples of their size.
struct Aligned {
  bool value = false, result = false;
};

template <ElementType type, int run>
__device__ inline void read_run(const Elements& from, const typename Storage<type>::Stored* row,
                                std::int64_t column, bool whole,
                                typename Storage<type>::Stored (&values)[run]) {
  using Stored = typename Storage<type>::Stored;
  if (whole) {
    const auto all = *reinterpret_cast<const StoredRun<Stored, run>*>(row + column);
#pragma unroll
    for (int e = 0; e < run; ++e) values[e] = all.of[e];
    return;
  }
#pragma unroll
  for (int e = 0; e < run; ++e) {
    values[e] = column + e < from.columns ? row[(column + e) * from.step] : Stored{};
  }
}

template <ElementType type, int run>
__device__ inline void write_run(const MutableElements& to, typename Storage<type>::Stored* row,
                                 std::int64_t column, bool whole,
                                 const StoredRun<typename Storage<type>::Stored, run>& values) {
  using Stored = typename Storage<type>::Stored;
  if (whole) {
    *reinterpret_cast<StoredRun<Stored, run>*>(row + column) = values;
    return;
  }
#pragma unroll
  for (int e = 0; e < run; ++e) {
    if (column + e < to.columns) row[(column + e) * to.step] = values.of[e];
  }
}

// Takes the elements of a thread through a stage.
template <ElementStageKind kind, int run>
__device__ inline void apply_kind(const ElementStage& stage, std::int64_t row, std::int64_t begin,
                                  std::int64_t columns, double (&x)[run * runs_of_thread]) {
#pragma unroll
  for (int i = 0; i < run * runs_of_thread; ++i) {
    const std::int64_t column = begin + i / run * (block_size * run) + i % run;
    const bool reads = stage.matrix && column < columns;
    x[i] = ElementStage{kind}.apply(x[i], reads ? stage.matrix(row, column) : stage.number);
  }
}

template <int run>
__device__ inline void apply(const ElementStage& stage, std::int64_t row, std::int64_t begin,
                             std::int64_t columns, double (&x)[run * runs_of_thread]) {
  switch (stage.kind) {
    case ElementStageKind::add:
      return apply_kind<ElementStageKind::add, run>(stage, row, begin, columns, x);
    case ElementStageKind::multiply:
      return apply_kind<ElementStageKind::multiply, run>(stage, row, begin, columns, x);
    case ElementStageKind::exponential:
      return apply_kind<ElementStageKind::exponential, run>(stage, row, begin, columns, x);
    case ElementStageKind::round_half:
      return apply_kind<ElementStageKind::round_half, run>(stage, row, begin, columns, x);
    case ElementStageKind::round_bfloat16:
      return apply_kind<ElementStageKind::round_bfloat16, run>(stage, row, begin, columns, x);
  }
}

template <ElementType in, ElementType out, bool stages>
__global__ void __launch_bounds__(block_size)
    transform(const __grid_constant__ Elementwise kernel, std::int64_t tiles, Aligned aligned) {
  using In = typename Storage<in>::Stored;
  using Out = typename Storage<out>::Stored;
  using Exact = typename Storage<in>::Exact;
  using Tile = TileOf<in, out>;
  constexpr int run = Tile::run;
  const std::int64_t columns = kernel.value.columns;
  for (std::int64_t task = blockIdx.x; task < kernel.value.rows * tiles; task += gridDim.x) {
    const std::int64_t row = tiles == 1 ? task : task / tiles;
    const std::int64_t first = (task - row * tiles) * Tile::size;
    const std::int64_t begin = first + static_cast<int>(threadIdx.x) * run;
    const auto* const from = static_cast<const In*>(kernel.value.at(row, 0));
    auto* const to = static_cast<Out*>(kernel.result.at(row, 0));
    const bool whole = first + Tile::size <= columns;
    In stored[runs_of_thread][run];
#pragma unroll
    for (int r = 0; r < runs_of_thread; ++r) {
      read_run<in, run>(kernel.value, from, begin + r * block_size * run, whole && aligned.value,
                        stored[r]);
    }
    double x[Tile::elements_of_thread];
    if constexpr (stages) {
#pragma unroll
      for (int i = 0; i < Tile::elements_of_thread; ++i) {
        x[i] = static_cast<double>(widened<in>(stored[i / run][i % run]));
      }
#pragma unroll 1
      for (int s = 0; s < kernel.count; ++s) apply<run>(kernel.stages[s], row, begin, columns, x);
    }
#pragma unroll
    for (int r = 0; r < runs_of_thread; ++r) {
      StoredRun<Out, run> values;
#pragma unroll
      for (int e = 0; e < run; ++e) {
        if constexpr (stages) {
          values.of[e] = narrowed<out, double>(x[r * run + e]);
        } else {
          values.of[e] = narrowed<out, Exact>(widened<in>(stored[r][e]));
        }
      }
      write_run<out, run>(kernel.result, to, begin + r * block_size * run, whole && aligned.result,
                          values);
    }
  }
}

// Short rows that do not lie side by side.
struct EachElement : Elementwise {
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / value.columns, column = i - row * value.columns;
    write_element(result.at(row, column), result.type, evaluate(value(row, column), row, column));
  }
};

template <class Void>
bool is_one_row(const ElementsOf<Void>& matrix) {
  return matrix.rows <= 1 || (matrix.step == 1 && matrix.stride == matrix.columns);
}
template <class Void>
void make_one_row(ElementsOf<Void>& matrix) {
  matrix.columns *= matrix.rows;
  matrix.stride = matrix.columns;
  matrix.rows = 1;
}

// Rows that lie side by side in all matrices are one row.
Elementwise flattened(Elementwise kernel) {
  bool all = is_one_row(kernel.value) && is_one_row(kernel.result);
  const auto is_number = [](const Elements& m) { return m.stride == 0 && m.step == 0; };
  for (int s = 0; s < kernel.count; ++s) {
    const Elements& matrix = kernel.stages[s].matrix;
    all = all && (!matrix || is_one_row(matrix) || is_number(matrix));
  }
  if (!all) return kernel;
  for (int s = 0; s < kernel.count; ++s) {
    if (!is_number(kernel.stages[s].matrix)) make_one_row(kernel.stages[s].matrix);
  }
  make_one_row(kernel.value);
  make_one_row(kernel.result);
  return kernel;
}

template <class Void>
bool has_runs(const ElementsOf<Void>& matrix, int run) {
  const std::int64_t bytes = run * bytes_of(matrix.type);
  const auto at = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(matrix.data));
  const std::int64_t stride = matrix.rows > 1 ? matrix.stride * bytes_of(matrix.type) : 0;
  return matrix.step == 1 && at % bytes == 0 && stride % bytes == 0;
}

template <ElementType in, ElementType out>
void launch_types(const Elementwise& kernel, Queue& queue) {
  using Tile = TileOf<in, out>;
  const std::int64_t tiles = (kernel.value.columns + Tile::size - 1) / Tile::size;
  const Aligned aligned{has_runs(kernel.value, Tile::run), has_runs(kernel.result, Tile::run)};
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(kernel.value.rows * tiles, std::int64_t{1} << 30));
  if (kernel.count > 0) {
    transform<in, out, true><<<blocks, block_size, 0, stream_of(queue)>>>(kernel, tiles, aligned);
  } else {
    transform<in, out, false><<<blocks, block_size, 0, stream_of(queue)>>>(kernel, tiles, aligned);
  }
  check_launch(Elementwise::name);
}

template <ElementType in>
void launch_from(const Elementwise& kernel, Queue& queue) {
  switch (kernel.result.type) {
    case ElementType::float64:
      return launch_types<in, ElementType::float64>(kernel, queue);
    case ElementType::float32:
      return launch_types<in, ElementType::float32>(kernel, queue);
    case ElementType::float16:
      return launch_types<in, ElementType::float16>(kernel, queue);
    case ElementType::bfloat16:
      return launch_types<in, ElementType::bfloat16>(kernel, queue);
  }
}

}  // namespace

template <>
void launch(const Elementwise& given, Queue& queue) {
  if (!given.valid()) throw InvalidArgument("kernel.elementwise", Elementwise::refusal);
  const Elementwise kernel = flattened(given);
  if (kernel.value.rows <= 0 || kernel.value.columns <= 0) return;
  if (kernel.value.rows > 1 && kernel.value.columns < short_row) {
    return launch_for_each(EachElement{kernel}, kernel.value.rows * kernel.value.columns, queue);
  }
  switch (kernel.value.type) {
    case ElementType::float64:
      return launch_from<ElementType::float64>(kernel, queue);
    case ElementType::float32:
      return launch_from<ElementType::float32>(kernel, queue);
    case ElementType::float16:
      return launch_from<ElementType::float16>(kernel, queue);
    case ElementType::bfloat16:
      return launch_from<ElementType::bfloat16>(kernel, queue);
  }
}

}  // namespace kiln::cuda
