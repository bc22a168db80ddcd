// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace kiln::cli {

/// A product of the vendor library.
enum class VendorProduct : std::uint8_t { float64, float32, tf32, bfloat16, int8 };

/// cuBLAS, opened at run time: measured beside Kiln's products, and used for nothing else. Works on
/// the device that is current, device 0 where none is.
class Cublas {
 public:
  /// @param complaint  receives the reason where it gives nothing
  static std::unique_ptr<Cublas> open(std::string& complaint);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// "libcublas.so.12, version 12.8.4"
  const std::string& description() const noexcept { return description_; }

  /// Enqueues a product of square matrices of `n` rows: 64-bit, 32-bit, 16-bit or 8-bit elements of
  /// A and B; C of 64 bits, else of 32. n is a multiple of 4.
  /// @param stream  a cudaStream_t
  /// @param a, b, c  in device memory
  /// @throws CudaError with the status of the library
  void multiply(VendorProduct product, void* stream, std::int64_t n, const void* a, const void* b,
                void* c) const;

 private:
  struct Api;
  explicit Cublas(std::unique_ptr<Api> api);

  std::unique_ptr<Api> api_;
  std::string description_;
};

}  // namespace kiln::cli
