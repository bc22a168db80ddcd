// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// cuBLAS by its symbols alone: a build needs no header of it. Names, signatures and numbers are
// those of the cuBLAS documentation (NVIDIA, 13.0): cublasGemmEx, cudaDataType_t,
// cublasComputeType_t, cublasOperation_t.
#include "bench/products/cublas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "kiln/errors.hpp"

namespace kiln::cli {
namespace {

constexpr int real_32 = 0, real_64 = 1, integer_8 = 3, integer_32 = 10, bfloat_16 = 14;
constexpr int compute_32 = 68, compute_64 = 70, compute_int_32 = 72, compute_tf32 = 77;
constexpr int plain = 0, transposed = 1;  // cublasOperation_t
constexpr int default_algorithm = -1;     // CUBLAS_GEMM_DEFAULT

struct VendorTypes {
  int factors, result, compute;
};

VendorTypes types_of(VendorProduct product) {
  switch (product) {
    case VendorProduct::float64:
      return {real_64, real_64, compute_64};
    case VendorProduct::float32:
      return {real_32, real_32, compute_32};
    case VendorProduct::tf32:
      return {real_32, real_32, compute_tf32};
    case VendorProduct::bfloat16:
      return {bfloat_16, real_32, compute_32};
    case VendorProduct::int8:
      return {integer_8, integer_32, compute_int_32};
  }
  return {};
}

}  // namespace

struct Cublas::Api {
  void* library = nullptr;
  void* handle = nullptr;
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*set_stream)(void*, void*) = nullptr;
  int (*version)(void*, int*) = nullptr;
  int (*gemm)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
              int, const void*, void*, int, int, int, int) = nullptr;

  Api() = default;
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  ~Api() {
    if (handle != nullptr) static_cast<void>(destroy(handle));
    // It stays open: handlers of the library run at the end of the process.
  }

  template <class Function>
  bool look_up(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
  bool look_up_all() {
    return look_up(create, "cublasCreate_v2") && look_up(destroy, "cublasDestroy_v2") &&
           look_up(set_stream, "cublasSetStream_v2") && look_up(version, "cublasGetVersion_v2") &&
           look_up(gemm, "cublasGemmEx");
  }
};

Cublas::Cublas(std::unique_ptr<Api> api) : api_(std::move(api)) {}
Cublas::~Cublas() = default;

std::unique_ptr<Cublas> Cublas::open(std::string& complaint) {
  auto api = std::make_unique<Api>();
  const char* found = nullptr;
  for (const char* const name : {"libcublas.so.13", "libcublas.so.12"}) {
    api->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    found = name;
    if (api->library != nullptr) break;
  }
  if (api->library == nullptr) {
    complaint = "libcublas.so.13 and libcublas.so.12 were not found";
    return nullptr;
  }
  if (!api->look_up_all()) {
    complaint = fmt::format("{} lacks a function", found);
    return nullptr;
  }
  if (const int status = api->create(&api->handle); status != 0) {
    api->handle = nullptr;
    complaint = fmt::format("{} cannot be used: status {}", found, status);
    return nullptr;
  }
  int version = 0;
  static_cast<void>(api->version(api->handle, &version));
  std::unique_ptr<Cublas> cublas(new Cublas(std::move(api)));
  cublas->description_ = fmt::format("{}, version {}.{}.{}", found, version / 10000,
                                     version / 100 % 100, version % 100);
  return cublas;
}

// Matrices of the library lie column after column: it computes the transpose of C, B^T A^T. int8
// is fast with its first factor transposed alone.
void Cublas::multiply(VendorProduct product, void* stream, std::int64_t n, const void* a,
                      const void* b, void* c) const {
  const VendorTypes types = types_of(product);
  const int size = static_cast<int>(n);
  const std::array<double, 2> real{1, 0};
  const std::array<float, 2> single{1, 0};
  const std::array<std::int32_t, 2> whole{1, 0};
  const void* factors[2] = {&single[0], &single[1]};  // alpha and beta
  if (types.compute == compute_64) factors[0] = &real[0], factors[1] = &real[1];
  if (types.compute == compute_int_32) factors[0] = &whole[0], factors[1] = &whole[1];
  const int first = product == VendorProduct::int8 ? transposed : plain;
  int status = api_->set_stream(api_->handle, stream);
  if (status == 0) {
    status = api_->gemm(api_->handle, first, plain, size, size, size, factors[0], b, types.factors,
                        size, a, types.factors, size, factors[1], c, types.result, size,
                        types.compute, default_algorithm);
  }
  if (status != 0) throw CudaError("cuda.cublas", fmt::format("cublasGemmEx: status {}", status));
}

}  // namespace kiln::cli
