// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/device/epilogue.hpp"
#include "kiln/device_shape.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/product_matrix.hpp"
#include "kiln/kernels/linear_algebra/product_path.hpp"
#include "kiln/queue.hpp"

namespace kiln {

class Backend;

/// The contract of a matrix product: the error that it may have.
///
/// The error of a computed product C is ||C - A B||_F / max(||A B||_F, ||A||_F ||B||_F / sqrt(K)),
/// K the inner dimension. The second term is the norm of a product of independent factors with
/// these norms; it bounds the error where the product cancels.
struct KILN_API Accuracy {
  enum class Kind : std::uint8_t { exact, within, automatic };

  Kind kind = Kind::automatic;
  double tolerance = 1e-12;  ///< largest error; without meaning if exact

  /// No error: factors of integers within int8, sums in 32 bits.
  static Accuracy exact_integers() { return {Kind::exact, 0}; }
  static Accuracy within(double tolerance) { return {Kind::within, tolerance}; }
  /// No error where the factors are integers that a path multiplies exactly, else within the
  /// tolerance.
  static Accuracy automatic(double tolerance) { return {Kind::automatic, tolerance}; }
};

struct ProductShape {
  std::int64_t rows = 0;     ///< of A and C
  std::int64_t inner = 0;    ///< columns of A, rows of B
  std::int64_t columns = 0;  ///< of B and C

  bool empty() const { return rows == 0 || columns == 0; }
  /// Multiplications and additions.
  double operations() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(inner) *
           static_cast<double>(columns);
  }
};

/// What is known of the factors.
struct ProductOperands {
  ProductElement element = ProductElement::float64;  ///< of both factors
  ProductElement result = ProductElement::float64;   ///< of C
  /// Whether all elements are known to be integers, and from -128 to 127: the plan may then ask
  /// for the factors in another type, ProductPlan::element.
  bool integers = false, within_int8 = false;
  double largest_a = 0, largest_b = 0;  ///< largest magnitudes; 0: not known
};

/// How a product keeps its contract.
struct ProductPlan {
  ProductPath path = ProductPath::float64;
  ProductElement element = ProductElement::float64;  ///< in which the path takes the factors
  bool exact = false;
  /// Bound of the error of factors without structure: twice that of random ones. 0 if exact.
  double expected_error = 0;
  std::int64_t scratch_bytes = 0;  ///< that the path needs on this device
  std::string reason;              ///< one sentence
};

/// The cheapest path whose error at this size is within the contract, of those that the device has.
///
/// Errors and costs are those of a table, of random factors (engine/src/models/product_model.cpp).
/// Factors with structure can exceed them; ContractProduct::probe() measures what was reached.
/// @param shape     of the product
/// @param operands  what is known of the factors
/// @param accuracy  the contract
/// @param device    that multiplies
/// @param excluded  a bit for each ProductPath that is not to be used
/// @throws InvalidArgument `product.accuracy` for a contract that no path keeps, with the nearest
/// that one does, and for an exact product beyond int8 or 131071 terms.
KILN_API ProductPlan plan_product(const ProductShape& shape, const ProductOperands& operands,
                                  const Accuracy& accuracy, const DeviceShape& device,
                                  std::uint32_t excluded = 0);

/// Bound of the error of a path at an inner dimension, as plan_product() uses it.
KILN_API double product_error_bound(ProductPath path, std::int64_t inner);

/// What a probe found.
struct ProductProbe {
  double error = 0;  ///< estimate of the error as Accuracy defines it; NaN for a C that is not
                     ///< finite, infinite where the product is too small for all digits
  std::int32_t columns = 0;  ///< random columns that were used
};

/// Products of one shape that keep a contract. Owns the scratch memory of its path.
class KILN_API ContractProduct {
 public:
  /// @throws InvalidArgument as plan_product()
  ContractProduct(Queue& queue, const ProductShape& shape, const ProductOperands& operands,
                  const Accuracy& accuracy);
  /// Products by a given plan.
  ContractProduct(Queue& queue, const ProductShape& shape, ProductPlan plan);

  const ProductPlan& plan() const noexcept { return plan_; }
  const ProductShape& shape() const noexcept { return shape_; }

  /// Enqueues C = A B and the epilogue of each element.
  /// @param a  [rows][inner] of ProductPlan::element
  /// @param b  [inner][columns] of ProductPlan::element
  /// @param c  [rows][columns]
  /// @param epilogue  applied to each element before it is stored
  void multiply(const ConstProductMatrix& a, const ConstProductMatrix& b, const ProductMatrix& c,
                const Epilogue& epilogue = {});

  /// Estimates the error of a product without epilogue, in O(n^2): for a random column v of signs,
  /// ||A (B v) - C v|| has the expected square of ||A B - C||_F. Sums are compensated. Waits.
  /// @param a, b, c  of the product, each in double or single precision
  /// @param columns  of V; more make the estimate more certain
  /// @param seed     of the signs
  /// @par Source  Freivalds, IFIP Congress 1977; Hutchinson, Comm. Stat. Simul. 19 (1990) 433.
  ProductProbe probe(const ConstProductMatrix& a, const ConstProductMatrix& b,
                     const ConstProductMatrix& c, std::int32_t columns = 8,
                     std::uint64_t seed = 1) const;

 private:
  Queue& queue_;
  ProductShape shape_;
  ProductPlan plan_;
  DeviceArray<std::byte> scratch_;
};

/// A matrix of doubles in host memory, row after row.
struct HostMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;  ///< [rows][columns]

  View2<const double> view() const { return {values.data(), rows, columns, columns}; }
};

struct ProductAnswer {
  HostMatrix c;
  ProductPlan plan;
  ProductProbe probe;
  bool met = true;     ///< whether the probe found the contract kept
  std::string note;    ///< a sentence if the path was changed because of a probe
  double seconds = 0;  ///< of the product alone, on the device
};

/// What plan_product() wants to know of two factors in host memory.
/// @param a, b   the factors
/// @param exact  whether to refuse factors that int8 cannot hold
/// @throws InvalidArgument `product.value` that names matrix, row and column of a NaN or an
/// infinity, or if `exact` of the first element that is not an integer from -128 to 127.
KILN_API ProductOperands examine_operands(const HostMatrix& a, const HostMatrix& b, bool exact);

/// Multiplies two matrices in host memory under a contract, and measures what was reached. Where
/// the probe finds an error beyond the contract, the product is repeated by a more exact path.
/// @throws InvalidArgument `product.shape` for factors that do not fit each other, and as
/// examine_operands() and plan_product(); OutOfDeviceMemory
KILN_API ProductAnswer multiply_matrices(Backend& backend, const HostMatrix& a, const HostMatrix& b,
                                         const Accuracy& accuracy, std::uint64_t seed = 1);

}  // namespace kiln
