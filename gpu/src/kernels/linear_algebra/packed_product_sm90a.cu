// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "kiln/kernels/linear_algebra/matrix_product.hpp"

#include "kernels/grid.cuh"
#include "packed_multiply.cuh"
#include "packed_operands.cuh"
#include "packed_product.hpp"

namespace kiln::cuda {
namespace {

// Columns of a tile: sums of floats need registers for those that are rounded to nearest, too.
template <class Operand>
constexpr int tile_columns = std::is_same_v<Operand, Int8Operand> ? 256 : 128;

// Scales sums back, applies the epilogue and writes C.
template <class Sum, class Number>
struct StoreProduct {
  View2<Number> c;
  Epilogue epilogue;
  bool in_pairs = false;                       // rows begin at a multiple of two numbers
  const std::int32_t* row_exponent = nullptr;  // of RowExponent; null: nothing was scaled
  const std::int32_t* column_exponent = nullptr;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  __device__ bool active() const { return control == nullptr || control->active(step_offset); }
  __device__ void operator()(std::int64_t row, std::int64_t column, Sum v0, Sum v1) const {
    if (row >= c.rows || column >= c.columns) return;
    if (in_pairs && column + 1 < c.columns) {
      *reinterpret_cast<NumberPair<Number>*>(&c(row, column)) = {of(row, column, v0),
                                                                 of(row, column + 1, v1)};
      return;
    }
    c(row, column) = of(row, column, v0);
    if (column + 1 < c.columns) c(row, column + 1) = of(row, column + 1, v1);
  }

 private:
  __device__ Number of(std::int64_t row, std::int64_t column, Sum sum) const {
    if constexpr (std::is_same_v<Number, std::int32_t>) {
      return sum;
    } else {
      double v = static_cast<double>(sum);
      if (row_exponent != nullptr) {
        v = scaled(scaled(v, RowExponent::of(row_exponent[row])),
                   RowExponent::of(column_exponent[column]));
      }
      return static_cast<Number>(epilogue(v, row, column));
    }
  }
};

// Where the packed factors and their exponents are in the scratch memory of a product.
struct PackedFactors {
  PackedOperand a, b;
  std::int32_t* exponent = nullptr;  // of the rows of A, then of the columns of B
  std::int64_t rows = 0, columns = 0;

  explicit PackedFactors(const MatrixProduct& kernel)
      : rows(packed_count(kernel.c.rows)), columns(packed_count(kernel.c.columns)) {
    const std::int64_t slices = packed_slices(kernel.path, kernel.a.columns);
    const std::int64_t line = slices * packed_parts(kernel.path) * packed_slice_bytes;
    auto at = reinterpret_cast<std::uintptr_t>(kernel.scratch.data);
    at = (at + packed_alignment - 1) / packed_alignment * packed_alignment;
    a.data = reinterpret_cast<std::byte*>(at);
    b.data = a.data + rows * line;
    a.slices = b.slices = static_cast<int>(slices);
    a.parts = b.parts = static_cast<int>(packed_parts(kernel.path));
    exponent = reinterpret_cast<std::int32_t*>(b.data + columns * line);
  }
};

template <class Operand, class Number>
void pack(const ConstProductMatrix& m, bool columns_are_rows, const PackedOperand& to,
          std::int64_t rows, std::int32_t* exponent, Queue& queue) {
  constexpr int parts = std::is_same_v<Operand, Int8Operand> ? 1 : 2;
  const PackSource<Number> source{static_cast<const Number*>(m.data), m.stride,
                                  columns_are_rows ? m.columns : m.rows,
                                  columns_are_rows ? m.rows : m.columns, columns_are_rows};
  const cudaStream_t stream = stream_of(queue);
  if constexpr (std::is_same_v<Operand, Float16Operand>) {
    cuda_check(cudaMemsetAsync(exponent, RowExponent::none & 0xff,
                               sizeof(std::int32_t) * static_cast<std::size_t>(rows), stream),
               "clearing exponents");
    if (source.inner > 0) {
      row_exponents<<<dim3(static_cast<unsigned>((source.rows + 31) / 32),
                           static_cast<unsigned>((source.inner + 511) / 512)),
                      256, 0, stream>>>(source, exponent);
      check_launch(MatrixProduct::name);
    }
  } else {
    exponent = nullptr;
  }
  pack_operand<Operand, parts><<<dim3(static_cast<unsigned>(to.slices),
                                      static_cast<unsigned>(rows / PackedOperand::rows_of_block)),
                                 256, 0, stream>>>(source, to, exponent);
  check_launch(MatrixProduct::name);
}

template <class Operand, class Number>
void pack_both(const MatrixProduct& kernel, const PackedFactors& factors, Queue& queue) {
  pack<Operand, Number>(kernel.a, false, factors.a, factors.rows, factors.exponent, queue);
  pack<Operand, Number>(kernel.b, true, factors.b, factors.columns, factors.exponent + factors.rows,
                        queue);
}

template <class Operand, class Result>
void multiply_factors(const MatrixProduct& kernel, const PackedFactors& factors, Queue& queue) {
  constexpr int parts = std::is_same_v<Operand, Int8Operand> ? 1 : 2;
  constexpr int columns = tile_columns<Operand>;
  using Store = StoreProduct<typename Operand::Sum, Result>;
  Store store{kernel.c.view<Result>(), kernel.epilogue};
  store.in_pairs = store.c.stride % 2 == 0 &&
                   reinterpret_cast<std::uintptr_t>(store.c.data) % (2 * sizeof(Result)) == 0;
  store.control = kernel.control;
  store.step_offset = kernel.step_offset;
  if constexpr (std::is_same_v<Operand, Float16Operand>) {
    if (factors.a.slices > 0) {  // else nothing was packed
      store.row_exponent = factors.exponent;
      store.column_exponent = factors.exponent + factors.rows;
    }
  }
  const PackedMultiply<Store> product{
      factors.a, factors.b, static_cast<int>((kernel.c.rows + 127) / 128),
      static_cast<int>((kernel.c.columns + columns - 1) / columns), store};
  constexpr std::size_t bytes = PackedStages<parts, columns>::shared_bytes;
  reserve_shared(queue, multiply_packed<Operand, parts, columns, Store>, bytes,
                 MatrixProduct::name);
  const auto tiles =
      static_cast<unsigned>(static_cast<std::int64_t>(product.row_tiles) * product.column_tiles);
  multiply_packed<Operand, parts, columns>
      <<<tiles, PackedRoles::threads, bytes, stream_of(queue)>>>(product);
  check_launch(MatrixProduct::name);
}

template <class Operand, class Number>
void launch_of(const MatrixProduct& kernel, Queue& queue) {
  const PackedFactors factors(kernel);
  if (factors.a.slices > 0) pack_both<Operand, Number>(kernel, factors, queue);
  if (kernel.c.element == ProductElement::float64) {
    multiply_factors<Operand, double>(kernel, factors, queue);
  } else if (kernel.c.element == ProductElement::float32) {
    multiply_factors<Operand, float>(kernel, factors, queue);
  } else if constexpr (std::is_same_v<Operand, Int8Operand>) {
    multiply_factors<Operand, std::int32_t>(kernel, factors, queue);
  }
}

template <class Operand>
void launch_with(const MatrixProduct& kernel, Queue& queue) {
  if constexpr (std::is_same_v<Operand, Int8Operand>) {
    launch_of<Operand, std::int8_t>(kernel, queue);
  } else if (kernel.a.element == ProductElement::float64) {
    launch_of<Operand, double>(kernel, queue);
  } else {
    launch_of<Operand, float>(kernel, queue);
  }
}

}  // namespace

bool has_packed_products([[maybe_unused]] int compute_major) {
#ifdef KILN_HAS_SM90A
  return compute_major == 9;
#else
  return false;
#endif
}
bool has_packed_products(Queue& queue) {
  return has_packed_products(limits_of(queue).compute_major);
}

void launch_packed(const MatrixProduct& kernel, Queue& queue) {
  switch (kernel.path) {
    case ProductPath::int8_exact:
      return launch_with<Int8Operand>(kernel, queue);
    case ProductPath::bfloat16_x3:
      return launch_with<Bfloat16Operand>(kernel, queue);
    case ProductPath::float16_x3:
      return launch_with<Float16Operand>(kernel, queue);
    case ProductPath::tf32_x3:
      return launch_with<Tf32Operand>(kernel, queue);
    default:
      return;
  }
}

}  // namespace kiln::cuda
