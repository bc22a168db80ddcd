// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench products --check: 600 products under contracts, and how near each path comes to its
// bound.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "kiln/kernels/linear_algebra/matrix_product.hpp"
#include "kiln/models/product.hpp"

#include "bench/products/product_data.hpp"
#include "bench/products/products_suite.hpp"
#include "bench/timing.hpp"
#include "errors.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::int64_t, 8> inner_sizes{64, 200, 256, 777, 1024, 2048, 4096, 8192};
constexpr std::array<ProductData, 3> data_kinds{ProductData::zero_mean, ProductData::positive,
                                                ProductData::graded};
constexpr std::array<double, 4> tolerances{1e-4, 5e-6, 1e-6, 1e-12};  // and exact
constexpr std::int64_t contracts = std::ssize(tolerances) + 1;
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 5> gpu_shapes{
    {{1024, 1024}, {2048, 1000}, {1111, 777}, {640, 2049}, {256, 300}}};
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 5> cpu_shapes{
    {{64, 64}, {96, 40}, {71, 33}, {1, 129}, {50, 1}}};

/// What a path reached at one inner dimension with one kind of data.
struct PathGroup {
  ProductPath path;
  std::int64_t inner;
  ProductData data;
  std::int64_t products = 0;  ///< under a contract
  std::int64_t misses = 0;
  double error = 0;  ///< the largest, of products without a contract too
  double share = 0;  ///< the largest of error / tolerance, under a contract
};

class ProductCheck {
 public:
  explicit ProductCheck(const BenchRun& run)
      : info_(run.backend.backend->info()), queue_(run.backend.backend->make_queue()) {}

  const std::vector<PathGroup>& groups() const { return groups_; }

  /// All contracts of two factors, and all paths.
  void check(std::int64_t inner, ProductData data, std::int64_t rows, std::int64_t columns,
             std::uint64_t seed) {
    shape_ = {rows, inner, columns};
    data_ = data;
    check_real(random_factor(data, rows, inner, seed, true),
               random_factor(data, inner, columns, seed + 1, false));
    check_exact(random_integers(data, rows, inner, seed),
                random_integers(data, inner, columns, seed + 1));
  }

 private:
  std::vector<double> multiply(const ProductPlan& plan, const ConstProductMatrix& a,
                               const ConstProductMatrix& b) {
    ContractProduct product(*queue_, shape_, plan);
    DeviceArray<double> c(*queue_, shape_.rows * shape_.columns);
    product.multiply(a, b, {c.data(), shape_.rows, shape_.columns, shape_.columns});
    return c.download();
  }
  ProductPlan plan_of(ProductPath path) const {
    ProductPlan plan;
    plan.path = path;
    plan.scratch_bytes =
        info_.gpu ? product_scratch_bytes(path, shape_.rows, shape_.inner, shape_.columns) : 0;
    return plan;
  }
  PathGroup& group(ProductPath path) {
    for (PathGroup& of : groups_) {
      if (of.path == path && of.inner == shape_.inner && of.data == data_) return of;
    }
    return groups_.emplace_back(PathGroup{path, shape_.inner, data_});
  }
  static void count(PathGroup& of, double error, double tolerance) {
    ++of.products;
    if (!(error <= tolerance)) ++of.misses;
    of.error = std::max(of.error, error);
    of.share = std::max(of.share, error / tolerance);
  }

  void check_real(const HostMatrix& a, const HostMatrix& b) {
    const DeviceArray<double> on_a(*queue_, a.values), on_b(*queue_, b.values);
    const ConstProductMatrix left{on_a.data(), a.rows, a.columns, a.columns};
    const ConstProductMatrix right{on_b.data(), b.rows, b.columns, b.columns};
    const ProductError errors(a, b);
    const std::vector<double> oracle = multiply(plan_of(ProductPath::float64), left, right);
    const auto error_of = [&](ProductPath path, const std::vector<double>& c) {
      return path == ProductPath::float64 ? errors.against_exact_sums(c)
                                          : errors.against(c, oracle);
    };
    for (const ProductPath path : product_paths) {
      if (path == ProductPath::int8_exact || !device_has_path(info_, path)) continue;
      if (path != ProductPath::float64 && !info_.gpu) continue;  // computed as FP64 is
      const double error = error_of(path, multiply(plan_of(path), left, right));
      PathGroup& of = group(path);
      of.error = std::max(of.error, error);
    }
    for (const double tolerance : tolerances) {
      const ProductPlan plan =
          plan_product(shape_, {}, Accuracy::within(tolerance), queue_->device_shape());
      const double error = error_of(plan.path, multiply(plan, left, right));
      count(group(plan.path), error, tolerance);
    }
  }

  void check_exact(const HostMatrix& a, const HostMatrix& b) {
    const ProductPlan plan = plan_product(shape_, examine_operands(a, b, true),
                                          Accuracy::exact_integers(), queue_->device_shape());
    const auto narrowed = [](const HostMatrix& m) {
      std::vector<std::int8_t> values;
      for (const double x : m.values) values.push_back(static_cast<std::int8_t>(x));
      return values;
    };
    const DeviceArray<double> on_a(*queue_, a.values), on_b(*queue_, b.values);
    const ConstProductMatrix left{on_a.data(), a.rows, a.columns, a.columns};
    const ConstProductMatrix right{on_b.data(), b.rows, b.columns, b.columns};
    const ProductError errors(a, b);
    // Sums of these integers are exact in double.
    const std::vector<double> doubles = multiply(plan_of(ProductPath::float64), left, right);
    double error = errors.against_exact_sums(doubles);
    if (plan.element == ProductElement::int8) {
      const DeviceArray<std::int8_t> small_a(*queue_, narrowed(a)), small_b(*queue_, narrowed(b));
      const std::vector<double> c = multiply(plan, {small_a.data(), a.rows, a.columns, a.columns},
                                             {small_b.data(), b.rows, b.columns, b.columns});
      error = std::max(error, errors.against(c, doubles));
    }
    count(group(plan.path), error, error == 0 ? 1 : 0);
  }

  DeviceInfo info_;
  std::unique_ptr<Queue> queue_;
  ProductShape shape_;
  ProductData data_ = ProductData::zero_mean;
  std::vector<PathGroup> groups_;
};

/// A pair of factors: their inner size, their data and the place of their shape in the list.
struct Factors {
  std::int64_t inner;
  ProductData data;
  std::size_t shape;
  std::uint64_t seed;
};

// Every inner size and kind of data comes once before any comes with a second shape: a time limit
// leaves out shapes. The seeds do not depend on this order.
std::vector<Factors> factors_to_check(std::size_t inner_count, std::size_t shape_count) {
  std::vector<Factors> all;
  for (std::size_t shape = 0; shape < shape_count; ++shape) {
    for (std::size_t k = 0; k < inner_count; ++k) {
      for (std::size_t d = 0; d < data_kinds.size(); ++d) {
        const std::size_t number = (k * data_kinds.size() + d) * shape_count + shape;
        all.push_back({inner_sizes[k], data_kinds[d], shape, 1 + 2 * number});
      }
    }
  }
  return all;
}

void add_group(BenchReport& report, const PathGroup& of) {
  const double bound = product_error_bound(of.path, of.inner);
  report.rows.push_back({{"path", name_of(of.path)},
                         {"inner", of.inner},
                         {"data", name_of(of.data)},
                         {"products", of.products},
                         {"misses", of.misses},
                         {"error", of.error},
                         {"bound", bound},
                         {"share_of_contract", of.share}});
  report.table.push_back({name_of(of.path), name_of(of.data), fmt::format("{}", of.inner),
                          fmt::format("{}", of.products), fmt::format("{}", of.misses),
                          fmt::format("{:.1e}", of.error), fmt::format("{:.1e}", bound)});
}

// What was checked so far, of `all` products.
void summarize(BenchReport& report, const ProductCheck& check, std::int64_t all) {
  std::vector<PathGroup> groups = check.groups();
  std::ranges::sort(groups, {},
                    [](const PathGroup& of) { return std::tuple(of.path, of.inner, of.data); });
  report.rows.clear();
  report.table.resize(1);  // its heading
  report.notes.clear();
  std::int64_t products = 0, misses = 0;
  for (const PathGroup& of : groups) {
    add_group(report, of);
    products += of.products;
    misses += of.misses;
  }
  report.facts["products"] = products;
  report.facts["misses"] = misses;
  report.facts["left_out"] = all - products;
  std::string note = fmt::format("{} products, {} missed the contract", products, misses);
  if (products < all) note += fmt::format("; {} of {} were left out", all - products, all);
  report.notes.push_back(std::move(note));
  if (misses == 0) return;
  report.first_failure = std::make_exception_ptr(SelfCheckError(
      "bench.products", fmt::format("{} of {} products missed the contract", misses, products)));
}

// In order until the time is over; those of the first shape in any case.
template <class Shapes>
void check_within(const BenchRun& run, ProductCheck& check, const std::vector<Factors>& wanted,
                  const Shapes& shapes, BenchReport& report) {
  const Stopwatch spent;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Factors& one = wanted[i];
    if (one.shape > 0 && spent.seconds() > run.options.time_limit_s) return;
    const auto& [rows, columns] = shapes[one.shape];
    const std::string name =
        fmt::format("K = {}, {}, {} x {}", one.inner, name_of(one.data), rows, columns);
    summarize(report, check, std::ssize(wanted) * contracts);  // an interruption prints it
    run.progress.update(i, wanted.size(), name, report);
    check.check(one.inner, one.data, rows, columns, one.seed);
  }
}

}  // namespace

BenchReport check_products(const BenchRun& run) {
  BenchReport report;
  report.facts = {
      {"method", "check"},
      {"method_text",
       "products under contracts of 1e-4, 5e-6, 1e-6, 1e-12 and exact; FP64 and integers against "
       "sums in twice the precision of a double, other paths against FP64; the largest error, also "
       "of products by each path without a contract"}};
  report.table = {{"path", "data", "K", "products", "misses", "error", "bound"}};
  report.first_number = 2;
  ProductCheck check(run);
  const auto& shapes = run.on_cpu() ? cpu_shapes : gpu_shapes;
  const std::vector<Factors> wanted =
      factors_to_check(run.options.quick ? 2 : inner_sizes.size(), shapes.size());
  check_within(run, check, wanted, shapes, report);
  summarize(report, check, std::ssize(wanted) * contracts);
  return report;
}

}  // namespace kiln::cli
