// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench products: rates of matrix products by contract and path, beside the vendor library.
#include "bench/products/products_suite.hpp"

#include <fmt/format.h>

#include <bit>
#include <memory>
#include <optional>

#include "kiln/kernels/linear_algebra/matrix_product.hpp"
#include "kiln/models/product.hpp"

#include "bench/products/cublas.hpp"
#include "bench/products/product_data.hpp"
#include "bench/timing.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One row: a product of square matrices by a contract, by a path or by the vendor library.
struct ProductCase {
  std::string name;
  std::int64_t n = 0;
  std::optional<Accuracy> contract{};
  ProductPath path = ProductPath::float64;
  bool epilogue = false;
  std::optional<VendorProduct> vendor{};
};

void add_path_rows(std::vector<ProductCase>& all, const DeviceInfo& device, std::int64_t n,
                   bool epilogues) {
  for (const ProductPath path : product_paths) {
    if (!device_has_path(device, path)) continue;
    const std::string name = fmt::format("{}: {}", n, name_of(path));
    all.push_back({name, n, {}, path});
    if (epilogues) all.push_back({name + " with epilogue", n, {}, path, true});
  }
}

void add_vendor_rows(std::vector<ProductCase>& all, std::int64_t n) {
  constexpr std::pair<VendorProduct, const char*> products[] = {{VendorProduct::float64, "FP64"},
                                                                {VendorProduct::float32, "FP32"},
                                                                {VendorProduct::tf32, "TF32"},
                                                                {VendorProduct::bfloat16, "BF16"},
                                                                {VendorProduct::int8, "int8"}};
  for (const auto& [product, name] : products) {
    all.push_back(
        {fmt::format("{}: cuBLAS {}", n, name), n, {}, ProductPath::float64, false, product});
  }
}

std::vector<ProductCase> product_cases(const DeviceInfo& device, bool vendor) {
  const std::int64_t large = device.gpu ? 4096 : 384;
  std::vector<ProductCase> all;
  for (const double tolerance : {1e-4, 5e-6, 1e-6, 1e-12}) {
    all.push_back(
        {fmt::format("{}: contract {:.0e}", large, tolerance), large, Accuracy::within(tolerance)});
  }
  all.push_back({fmt::format("{}: contract exact", large), large, Accuracy::exact_integers()});
  add_path_rows(all, device, large, true);
  if (vendor) add_vendor_rows(all, large);
  for (std::int64_t n = 64; n < large; n *= 2) {
    all.push_back({fmt::format("{}: contract 1e-04", n), n, Accuracy::within(1e-4)});
    add_path_rows(all, device, n, false);
    if (vendor) add_vendor_rows(all, n);
  }
  return all;
}

/// Square matrices of one size in all types.
struct ProductArrays {
  ProductArrays(Queue& queue, std::int64_t size)
      : ProductArrays(queue, size, random_factor(ProductData::zero_mean, size, size, 1, false),
                      random_factor(ProductData::zero_mean, size, size, 2, false)) {}

  ProductArrays(Queue& queue, std::int64_t size, const HostMatrix& a, const HostMatrix& b)
      : n(size),
        double_a(queue, a.values),
        double_b(queue, b.values),
        float_a(queue, converted<float>(a, 1)),
        float_b(queue, converted<float>(b, 1)),
        int8_a(queue, converted<std::int8_t>(a, 127)),
        int8_b(queue, converted<std::int8_t>(b, 127)),
        bfloat_a(queue, bfloats(a)),
        bfloat_b(queue, bfloats(b)),
        c(queue, n * n),
        scale(queue, std::vector<double>(static_cast<std::size_t>(n), 0.5)),
        bias(queue, std::vector<double>(static_cast<std::size_t>(n), 0.25)) {}

  template <class T>
  static std::vector<T> converted(const HostMatrix& m, double factor) {
    std::vector<T> values;
    for (const double x : m.values) values.push_back(static_cast<T>(factor * x));
    return values;
  }
  static std::vector<std::uint16_t> bfloats(const HostMatrix& m) {
    std::vector<std::uint16_t> values;
    for (const double x : m.values) {
      values.push_back(
          static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16));
    }
    return values;
  }
  template <class T>
  ConstProductMatrix view(const DeviceArray<T>& m) const {
    return {m.data(), n, n, n};
  }
  View2<const double> doubles(const DeviceArray<double>& m) const { return {m.data(), n, n, n}; }
  ProductMatrix result(ProductElement element) {
    ProductMatrix m{c.data(), n, n, n};
    m.element = element;
    return m;
  }

  std::int64_t n;
  DeviceArray<double> double_a, double_b;
  DeviceArray<float> float_a, float_b;
  DeviceArray<std::int8_t> int8_a, int8_b;
  DeviceArray<std::uint16_t> bfloat_a, bfloat_b;
  DeviceArray<double> c, scale, bias;
};

struct MeasuredProduct {
  Timing timing;
  ProductPlan plan;
  std::optional<double> error;
};

/// Measures rows one after the other; matrices stay for the next row of their size.
class ProductsBench {
 public:
  explicit ProductsBench(const BenchRun& run)
      : queue_(run.backend.backend->make_queue()), timer_(*queue_) {
    if (run.backend.backend->info().name == "cuda:0") {
      cublas_ = Cublas::open(complaint_);
    } else if (run.backend.backend->info().gpu) {
      complaint_ = "it is measured on device cuda:0 alone";
    }
  }

  const Cublas* cublas() const { return cublas_.get(); }
  const std::string& complaint() const { return complaint_; }
  const LaunchTimer& timer() const { return timer_; }

  MeasuredProduct measure(const ProductCase& one, double limit_s) {
    if (!arrays_ || arrays_->n != one.n) {
      arrays_.reset();
      arrays_ = std::make_unique<ProductArrays>(*queue_, one.n);
    }
    return one.vendor ? measure_vendor(one, limit_s) : measure_path(one, limit_s);
  }

 private:
  Timing time(const std::function<void()>& launch, double limit_s) {
    launch();  // loads code
    queue_->wait();
    Effort effort;
    effort.limit_s = limit_s;
    return timer_.time({[&](std::uint32_t) { launch(); }, {}, 100}, effort);
  }

  MeasuredProduct measure_vendor(const ProductCase& one, double limit_s) {
    const void *a = arrays_->double_a.data(), *b = arrays_->double_b.data();
    if (*one.vendor == VendorProduct::float32 || *one.vendor == VendorProduct::tf32) {
      a = arrays_->float_a.data(), b = arrays_->float_b.data();
    } else if (*one.vendor == VendorProduct::bfloat16) {
      a = arrays_->bfloat_a.data(), b = arrays_->bfloat_b.data();
    } else if (*one.vendor == VendorProduct::int8) {
      a = arrays_->int8_a.data(), b = arrays_->int8_b.data();
    }
    const auto launch = [&] {
      cublas_->multiply(*one.vendor, queue_->native_handle(), one.n, a, b, arrays_->c.data());
    };
    return {time(launch, limit_s), {}, {}};
  }

  MeasuredProduct measure_path(const ProductCase& one, double limit_s) {
    const ProductShape shape{one.n, one.n, one.n};
    MeasuredProduct measured;
    if (one.contract) {
      ProductOperands operands;
      operands.integers = operands.within_int8 = one.contract->kind == Accuracy::Kind::exact;
      operands.largest_a = operands.largest_b = 127;
      measured.plan = plan_product(shape, operands, *one.contract, queue_->device_shape());
    } else {
      measured.plan.path = one.path;
      if (!queue_->on_cpu()) {
        measured.plan.scratch_bytes = product_scratch_bytes(one.path, one.n, one.n, one.n);
      }
    }
    const bool whole = measured.plan.path == ProductPath::int8_exact;
    ContractProduct product(*queue_, shape, measured.plan);
    Epilogue epilogue;
    if (one.epilogue) {
      epilogue = {arrays_->scale.view(), arrays_->bias.view(), -1, 1, {}};
    }
    const ConstProductMatrix a =
        whole ? arrays_->view(arrays_->int8_a) : arrays_->view(arrays_->double_a);
    const ConstProductMatrix b =
        whole ? arrays_->view(arrays_->int8_b) : arrays_->view(arrays_->double_b);
    const bool integers = whole && !one.epilogue && !one.contract;
    const ProductMatrix c =
        arrays_->result(integers ? ProductElement::int32 : ProductElement::float64);
    measured.timing = time([&] { product.multiply(a, b, c, epilogue); }, limit_s);
    if (!whole && !one.epilogue) {
      measured.error = product
                           .probe(arrays_->doubles(arrays_->double_a),
                                  arrays_->doubles(arrays_->double_b), arrays_->doubles(arrays_->c))
                           .error;
    }
    return measured;
  }

  std::unique_ptr<Queue> queue_;
  LaunchTimer timer_;
  std::unique_ptr<Cublas> cublas_;
  std::string complaint_;
  std::unique_ptr<ProductArrays> arrays_;
};

double teraflops(const ProductCase& one, const MeasuredProduct& row) {
  return ProductShape{one.n, one.n, one.n}.operations() / row.timing.seconds.median * 1e-12;
}

Json product_row(const BenchRun& run, const ProductCase& one, const MeasuredProduct& row) {
  const DeviceInfo info = run.backend.backend->info();
  return {{"case", one.name},
          {"device", info.name},
          {"threads", run.on_cpu() ? Json(info.parallel_units) : Json(nullptr)},
          {"n", one.n},
          {"path", one.vendor ? Json(nullptr) : Json(name_of(row.plan.path))},
          {"epilogue", one.epilogue},
          {"seconds", json_of(row.timing.seconds)},
          {"tflops", teraflops(one, row)},
          {"error", row.error ? Json(*row.error) : Json(nullptr)}};
}

std::vector<std::string> product_cells(const ProductCase& one, const MeasuredProduct& row) {
  return {one.name, one.vendor ? "cuBLAS" : name_of(row.plan.path),
          three_digits(row.timing.seconds.median * 1e6), three_digits(teraflops(one, row)),
          row.error ? fmt::format("{:.1e}", *row.error) : ""};
}

}  // namespace

bool device_has_path(const DeviceInfo& device, ProductPath path) {
  if (!device.gpu) return !is_split(path);
  return !is_packed(path) || device.packed_products;
}

BenchReport run_products_suite(const BenchRun& run) {
  if (run.options.check) return check_products(run);
  BenchReport report;
  ProductsBench bench(run);
  report.facts = {{"method", bench.timer().method()}, {"method_text", bench.timer().method_text()}};
  report.facts["cublas"] =
      bench.cublas() != nullptr ? Json(bench.cublas()->description()) : Json(nullptr);
  if (bench.cublas() != nullptr) {
    report.notes.push_back("cuBLAS: " + bench.cublas()->description());
  } else if (!bench.complaint().empty()) {
    report.notes.push_back("cuBLAS is not measured: " + bench.complaint());
  }
  report.table = {{"case", "path", "us", "TFLOP/s", "error"}};
  report.first_number = 2;
  const std::vector<ProductCase> cases =
      product_cases(run.backend.backend->info(), bench.cublas() != nullptr);
  const auto name_of_case = [](const ProductCase& one) { return one.name; };
  measure_rows(run, cases, name_of_case, report, [&](const ProductCase& one, double limit_s) {
    const MeasuredProduct row = bench.measure(one, limit_s);
    report.rows.push_back(product_row(run, one, row));
    report.table.push_back(product_cells(one, row));
  });
  return report;
}

}  // namespace kiln::cli
