// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/device/rng_domains.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/rows/axpby.hpp"
#include "kiln/kernels/rows/reduce_rows.hpp"
#include "kiln/models/product.hpp"

#include "idx.hpp"

namespace kiln {
namespace {

Elements probe_elements(const ConstProductMatrix& m) {
  if (m.element != ProductElement::float64 && m.element != ProductElement::float32) {
    throw InvalidArgument("product.element",
                          std::string("a probe was given a matrix of ") + name_of(m.element),
                          "factors and product in float64 or float32");
  }
  const bool wide = m.element == ProductElement::float64;
  return {m.data, wide ? ElementType::float64 : ElementType::float32, m.rows, m.columns, m.stride};
}

/// Columns of random signs, one after the other.
std::vector<double> probe_signs(std::int64_t count, std::uint64_t seed) {
  DrawName name;
  name.key = seed;
  name.domain = RngDomain::product_probe;
  std::vector<double> signs(idx(count));
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const std::uint32_t word = draw_word(name, static_cast<std::uint32_t>(i / 32));
    signs[i] = (word >> i % 32 & 1) != 0 ? 1.0 : -1.0;
  }
  return signs;
}

/// The launches of a probe.
class ProbeLaunches {
 public:
  ProbeLaunches(Queue& queue, const ProductShape& shape, std::int64_t columns)
      : queue_(queue),
        shape_(shape),
        room_(queue, room_bytes(shape, columns)),
        of_rows_(queue, std::max({shape.rows, shape.inner, columns})),
        norm_(queue, 1),
        middle_(queue, shape.inner) {}

  /// y = C v - A (B v).
  void difference(const Elements& a, const Elements& b, const Elements& c,
                  const View1<const double>& v, const View1<double>& y) {
    if (shape_.inner > 0) {
      add(b, v, middle_.view(), 0);
      add(a, middle_.view(), y, 0);
    }
    add(c, v, y, shape_.inner > 0 ? -1 : 0);
  }
  /// The Frobenius norm. Waits.
  double norm(const Elements& m) {
    if (m.rows == 0 || m.columns == 0) return 0;
    reduce(m, {of_rows_.data(), m.rows, 1, 1});
    reduce(View1<const double>(of_rows_.data(), m.rows), {norm_.data(), 1, 1, 1});
    return norm_.download().front();
  }

 private:
  // Of A, B and C, of their norms by rows, and of the differences.
  static std::int64_t room_bytes(const ProductShape& shape, std::int64_t columns) {
    return std::max({ReduceRows::room_bytes(shape.rows, shape.inner),
                     ReduceRows::room_bytes(shape.inner, shape.columns),
                     ReduceRows::room_bytes(shape.rows, shape.columns),
                     ReduceRows::room_bytes(columns, shape.rows),
                     ReduceRows::room_bytes(1, std::max({shape.rows, shape.inner, columns}))});
  }
  void add(const Elements& a, const View1<const double>& x, const View1<double>& y, double beta) {
    Axpby kernel;
    kernel.a = a;
    kernel.x = x;
    kernel.y = y;
    kernel.beta = beta;
    kernel.room = room_.view();
    queue_.launch(kernel);
  }
  void reduce(const Elements& rows, const View2<double>& result) {
    ReduceRows kernel;
    kernel.reduction = RowReduction::norm;
    kernel.value = rows;
    kernel.result = result;
    kernel.room = room_.view();
    queue_.launch(kernel);
  }

  Queue& queue_;
  ProductShape shape_;
  DeviceArray<std::byte> room_;
  DeviceArray<double> of_rows_, norm_, middle_;
};

}  // namespace

ProductProbe ContractProduct::probe(const ConstProductMatrix& a, const ConstProductMatrix& b,
                                    const ConstProductMatrix& c, std::int32_t columns,
                                    std::uint64_t seed) const {
  if (columns < 1) {
    throw InvalidArgument("product.probe", "a probe has " + std::to_string(columns) + " columns",
                          "1 or more");
  }
  ProductProbe probe{0, columns};
  const Elements of_a = probe_elements(a), of_b = probe_elements(b), of_c = probe_elements(c);
  if (shape_.empty()) return probe;
  ProbeLaunches launches(queue_, shape_, columns);
  const DeviceArray<double> signs(queue_, probe_signs(columns * shape_.columns, seed));
  DeviceArray<double> differences(queue_, columns * shape_.rows);
  for (std::int32_t i = 0; i < columns; ++i) {
    launches.difference(of_a, of_b, of_c, {signs.data() + i * shape_.columns, shape_.columns},
                        {differences.data() + i * shape_.rows, shape_.rows});
  }
  const View2<const double> all{differences.data(), columns, shape_.rows, shape_.rows};
  const double size = launches.norm(all) / std::sqrt(static_cast<double>(columns));
  const double of_product = launches.norm(of_c);
  if (!std::isfinite(size) || !std::isfinite(of_product)) {
    probe.error = std::nan("");  // the product overflows
    return probe;
  }
  double left = 0, right = 0;
  if (shape_.inner > 0) {
    left = launches.norm(of_a) / std::sqrt(static_cast<double>(shape_.inner));
    right = launches.norm(of_b);
  }
  // Elements without all of their digits have errors of unknown size, and so has their probe.
  constexpr double smallest = 1e-290;
  const bool vanishes = left > 0 && right > 0 && left * right < smallest;
  if (vanishes && of_product < smallest) {
    probe.error = std::numeric_limits<double>::infinity();
    return probe;
  }
  // In this order nothing overflows that the ratio does not.
  double error = std::numeric_limits<double>::infinity();
  if (of_product > 0) error = size / of_product;
  if (left > 0 && right > 0) error = std::fmin(error, size / left / right);
  if (size != 0) probe.error = error;
  return probe;
}

}  // namespace kiln
