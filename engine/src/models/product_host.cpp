// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/models/product.hpp"
#include "kiln/options.hpp"
#include "kiln/profile/device_clock.hpp"

namespace kiln {
namespace {

[[noreturn]] void refuse_element(const char* name, const HostMatrix& m, std::size_t at,
                                 const std::string& expected) {
  const auto columns = static_cast<std::size_t>(m.columns);
  throw InvalidArgument("product.value",
                        std::string("matrix ") + name + " has " + detail::show_real(m.values[at]) +
                            " in row " + std::to_string(at / columns + 1) + ", column " +
                            std::to_string(at % columns + 1),
                        expected);
}

bool is_int8(double x) { return x == std::floor(x) && x >= -128 && x <= 127; }

// Before anything follows the sizes: the probe would read the same elements beyond the end.
void check_size(const char* name, const HostMatrix& m) {
  const auto wanted =
      static_cast<unsigned __int128>(m.rows) * static_cast<std::uint64_t>(m.columns);
  if (m.rows >= 0 && m.columns >= 0 && wanted == m.values.size()) return;
  throw InvalidArgument("product.shape",
                        std::string("matrix ") + name + " has " + std::to_string(m.values.size()) +
                            " elements for " + std::to_string(m.rows) + " rows and " +
                            std::to_string(m.columns) + " columns",
                        "rows * columns elements");
}

double examine_operand(const char* name, const HostMatrix& m, bool exact,
                       ProductOperands& operands) {
  check_size(name, m);
  double largest = 0;
  for (std::size_t i = 0; i < m.values.size(); ++i) {
    const double x = m.values[i];
    if (!std::isfinite(x)) refuse_element(name, m, i, "finite numbers");
    largest = std::max(largest, std::abs(x));
    if (is_int8(x)) continue;
    if (exact) {
      refuse_element(name, m, i, "integers from -128 to 127 for an exact product");
    }
    operands.within_int8 = false;
    if (x != std::floor(x)) operands.integers = false;
  }
  return largest;
}

void check_fit(const HostMatrix& a, const HostMatrix& b) {
  if (a.columns == b.rows) return;
  throw InvalidArgument("product.shape",
                        "A has " + std::to_string(a.columns) + " columns and B has " +
                            std::to_string(b.rows) + " rows",
                        "as many columns of A as rows of B");
}

/// The factors on a device, as doubles for the probe and as the path takes them.
class HostProduct {
 public:
  HostProduct(Backend& backend, const HostMatrix& a, const HostMatrix& b)
      : queue_(backend.make_queue()),
        clock_(backend.make_clock(*queue_)),
        shape_{a.rows, a.columns, b.columns},
        host_a_(a),
        host_b_(b),
        a_(*queue_, a.values),
        b_(*queue_, b.values),
        c_(*queue_, shape_.rows * shape_.columns) {}

  Queue& queue() { return *queue_; }
  const ProductShape& shape() const { return shape_; }

  void multiply(ProductAnswer& answer, std::uint64_t seed) {
    ContractProduct product(*queue_, shape_, answer.plan);
    DeviceArray<std::int8_t> small_a, small_b;
    ConstProductMatrix a = view(a_, host_a_), b = view(b_, host_b_);
    if (answer.plan.element == ProductElement::int8) {
      small_a = narrowed(host_a_);
      small_b = narrowed(host_b_);
      a = {small_a.data(), a.rows, a.columns, a.stride};
      b = {small_b.data(), b.rows, b.columns, b.stride};
    }
    answer.seconds = best_time([&] {
      product.multiply(a, b, {c_.data(), shape_.rows, shape_.columns, shape_.columns});
    });
    answer.probe = product.probe(view(a_, host_a_), view(b_, host_b_),
                                 {c_.data(), shape_.rows, shape_.columns, shape_.columns}, 8, seed);
  }
  std::vector<double> download() const { return c_.download(); }

 private:
  static View2<const double> view(const DeviceArray<double>& values, const HostMatrix& m) {
    return {values.data(), m.rows, m.columns, m.columns};
  }
  DeviceArray<std::int8_t> narrowed(const HostMatrix& m) const {
    std::vector<std::int8_t> values(m.values.size());
    std::ranges::transform(m.values, values.begin(),
                           [](double x) { return static_cast<std::int8_t>(x); });
    return {*queue_, values};
  }
  // The first launch of a kernel includes that of loading it; short ones are repeated.
  template <class Run>
  double best_time(const Run& run) {
    constexpr double enough_s = 0.02;
    double best = 0, total = 0;
    for (int i = 0; i == 0 || (i < 5 && total < enough_s); ++i) {
      const std::size_t begin = clock_->mark();
      run();
      const std::size_t end = clock_->mark();
      queue_->wait();
      const double seconds = clock_->seconds(begin, end);
      best = i == 0 ? seconds : std::min(best, seconds);
      total += seconds;
    }
    return best;
  }

  std::unique_ptr<Queue> queue_;
  std::unique_ptr<DeviceClock> clock_;
  ProductShape shape_;
  const HostMatrix &host_a_, &host_b_;
  DeviceArray<double> a_, b_, c_;
};

bool keeps_contract(const ProductAnswer& answer, const Accuracy& accuracy) {
  // The sums of a probe have more terms than those of the product, and round where these need not.
  if (answer.plan.exact) return answer.probe.error <= 1e-13;
  return answer.probe.error <= accuracy.tolerance;
}

// A path that missed its contract is left out; the next is one of a smaller bound.
std::uint32_t excluded_up_to(const ProductPlan& plan, std::int64_t inner) {
  std::uint32_t bits = 0;
  for (const ProductPath path : product_paths) {
    if (product_error_bound(path, inner) < product_error_bound(plan.path, inner)) continue;
    bits |= std::uint32_t{1} << static_cast<unsigned>(path);
  }
  return bits;
}

}  // namespace

ProductOperands examine_operands(const HostMatrix& a, const HostMatrix& b, bool exact) {
  ProductOperands operands;
  operands.integers = operands.within_int8 = true;
  operands.largest_a = examine_operand("A", a, exact, operands);
  operands.largest_b = examine_operand("B", b, exact, operands);
  return operands;
}

namespace {

ProductAnswer multiply_on_device(Backend& backend, const HostMatrix& a, const HostMatrix& b,
                                 const Accuracy& accuracy, std::uint64_t seed) {
  check_fit(a, b);
  const ProductOperands operands = examine_operands(a, b, accuracy.kind == Accuracy::Kind::exact);
  HostProduct product(backend, a, b);
  const DeviceShape& device = product.queue().device_shape();
  ProductAnswer answer;
  answer.plan = plan_product(product.shape(), operands, accuracy, device);
  answer.c.rows = a.rows, answer.c.columns = b.columns;
  if (product.shape().empty()) return answer;
  product.multiply(answer, seed);
  answer.met = keeps_contract(answer, accuracy);
  if (!answer.met && !answer.plan.exact && answer.plan.path != ProductPath::float64) {
    answer.note = std::string(name_of(answer.plan.path)) + " reached an error of " +
                  detail::show_real(answer.probe.error) +
                  " with these factors, so the product was repeated";
    answer.plan = plan_product(product.shape(), operands, Accuracy::within(accuracy.tolerance),
                               device, excluded_up_to(answer.plan, a.columns));
    product.multiply(answer, seed);
    answer.met = keeps_contract(answer, accuracy);
  }
  answer.c.values = product.download();
  if (!std::isfinite(answer.probe.error)) {
    answer.note = std::isnan(answer.probe.error)
                      ? "the error cannot be measured: elements of the product, or sums of its "
                        "probe, are beyond the range of double precision"
                      : "the error cannot be measured: elements of the product may be too small to "
                        "have all digits of a double";
    answer.note += "; a power of two times a factor would help";
  }
  return answer;
}

}  // namespace

// Queues advise on runs.
ProductAnswer multiply_matrices(Backend& backend, const HostMatrix& a, const HostMatrix& b,
                                const Accuracy& accuracy, std::uint64_t seed) {
  try {
    return multiply_on_device(backend, a, b, accuracy, seed);
  } catch (const OutOfDeviceMemory& error) {
    throw OutOfDeviceMemory(error.message(), error.bytes_needed(), error.bytes_free(),
                            "multiply blocks of rows of A one after the other, or use a device "
                            "with more memory");
  }
}

}  // namespace kiln
