// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "product_model.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/kernels/linear_algebra/packed_layout.hpp"

namespace kiln {
namespace {

/// Error of random factors: constant + growth sqrt(K), where a sum of K terms in chunks of 256 is
/// added up in single precision outside the tensor cores. A path is used where twice this keeps the
/// contract.
struct PathError {
  ProductPath path;
  double constant, growth;
};

// A rounding to p bits has a relative error of 0.41 2^-p (root mean square). K of them, of partial
// sums that grow as sqrt(k) in zero-mean and as k in positive data, make 0.41 2^-p sqrt(K / 2) and
// 0.41 2^-p sqrt(K / 3). Tensor cores truncate: a step adds up to 2^-23 of the partial sum, always
// towards 0, and 256 terms of three products are 48 steps of 16-bit elements, 96 of TF32.
constexpr PathError path_errors[] = {
    // 53 bits: sqrt(1/2) 0.41 2^-53 a root of K; the last rounding.
    {ProductPath::float64, 0.5e-16, 3.2e-17},
    // 24 bits: sqrt(1/2) 0.41 2^-24 a root of K; rounding of both factors to single precision.
    {ProductPath::float32, 3.5e-8, 1.8e-8},
    {ProductPath::int8_exact, 0, 0},
    // Parts of 8 bits: sqrt(3) (0.41 2^-8)^2 = 4.4e-6 by the product of low parts and the roundings
    // of both low parts; measured 3.8e-6 to 5.0e-6. A single product, or a row of A that one
    // element
    // decides, can have 3 2^-18 = 1.14e-5, which twice the constant covers.
    {ProductPath::bfloat16_x3, 6.0e-6, 1.2e-9},
    // Parts of 11 bits: sqrt(3) (0.41 2^-11)^2 = 7e-8; 48 steps, of which two thirds count: 1.4e-6.
    {ProductPath::float16_x3, 1.5e-6, 1.2e-9},
    // The same parts, and twice the steps: 2.8e-6.
    {ProductPath::tf32_x3, 2.9e-6, 1.2e-9},
};
constexpr double error_safety = 2;

/// What a product costs on a GPU.
struct PathCost {
  ProductPath path;
  double rate;   ///< operations per second when all multiprocessors are busy
  double alone;  ///< rate of a block that has a multiprocessor to itself, of that of one in a crowd
  std::int64_t tile_rows, tile_columns;  ///< of C, of a block
  int reads = 0;                         ///< passes over the factors that pack them
};

// Measured on an H100 by `kiln bench products`; rates scale with the multiprocessors.
constexpr PathCost path_costs[] = {
    {ProductPath::float64, 48e12, 0.55, 32, 32},
    {ProductPath::float32, 25e12, 1.5, 128, 128},
    {ProductPath::int8_exact, 1000e12, 1, 128, 256, 1},
    {ProductPath::bfloat16_x3, 230e12, 1, 128, 128, 1},
    {ProductPath::float16_x3, 220e12, 1, 128, 128, 2},
    {ProductPath::tf32_x3, 132e12, 1, 128, 128, 1},
};
constexpr double units_of_rates = 132;
constexpr double launch_s = 3e-6;    // of the product
constexpr double packing_s = 13e-6;  // of the launches of a pass over both factors
constexpr double packing_bytes_per_s = 3e12;
// Without tensor cores for doubles: of the rate in single precision.
constexpr double slow_double = 1.0 / 32;
constexpr double cpu_rate = 1e10, cpu_int8_rate = 2e9;  // of a thread

bool has_fast_doubles(const DeviceShape& device) {
  return device.compute_capability == 80 || device.compute_capability == 90;
}

double tiles(std::int64_t count, std::int64_t tile) {
  return static_cast<double>((count + tile - 1) / tile);
}

}  // namespace

double product_error_bound(ProductPath path, std::int64_t inner) {
  const auto* const of = std::ranges::find(path_errors, path, &PathError::path);
  return error_safety * (of->constant + of->growth * std::sqrt(static_cast<double>(inner)));
}

namespace detail {

bool has_path(const DeviceShape& device, ProductPath path) {
  if (!device.gpu) return !is_split(path);
  return !is_packed(path) || device.packed_products;
}

double product_seconds(const ProductShape& shape, ProductPath path, const DeviceShape& device) {
  if (!device.gpu) {
    const double rate = path == ProductPath::int8_exact ? cpu_int8_rate : cpu_rate;
    return shape.operations() / (rate * device.parallel_units);
  }
  const PathCost& of = *std::ranges::find(path_costs, path, &PathCost::path);
  double rate = of.rate * device.parallel_units / units_of_rates;
  if (path == ProductPath::float64 && !has_fast_doubles(device)) {
    rate *= slow_double;
  }
  const double blocks = tiles(shape.rows, of.tile_rows) * tiles(shape.columns, of.tile_columns);
  const double block_s = 2.0 * static_cast<double>(of.tile_rows * of.tile_columns) *
                         static_cast<double>(shape.inner) * device.parallel_units / rate;
  double seconds = launch_s + block_s * std::max(blocks / device.parallel_units, 1 / of.alone);
  if (of.reads > 0) {
    const auto packed =
        static_cast<double>(product_scratch_bytes(path, shape.rows, shape.inner, shape.columns));
    const double read =
        8.0 * static_cast<double>(shape.inner) * static_cast<double>(shape.rows + shape.columns);
    seconds += of.reads * packing_s + (packed + of.reads * read) / packing_bytes_per_s;
  }
  return seconds;
}

}  // namespace detail
}  // namespace kiln
