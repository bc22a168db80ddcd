// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/models/product.hpp"

#include <utility>

#include "kiln/kernels/linear_algebra/matrix_product.hpp"

namespace kiln {

ContractProduct::ContractProduct(Queue& queue, const ProductShape& shape,
                                 const ProductOperands& operands, const Accuracy& accuracy)
    : ContractProduct(queue, shape, plan_product(shape, operands, accuracy, queue.device_shape())) {
}

ContractProduct::ContractProduct(Queue& queue, const ProductShape& shape, ProductPlan plan)
    : queue_(queue),
      shape_(shape),
      plan_(std::move(plan)),
      scratch_(queue, shape.empty() ? 0 : plan_.scratch_bytes) {}

void ContractProduct::multiply(const ConstProductMatrix& a, const ConstProductMatrix& b,
                               const ProductMatrix& c, const Epilogue& epilogue) {
  if (shape_.empty()) return;
  MatrixProduct product;
  product.a = a;
  product.b = b;
  product.c = c;
  product.epilogue = epilogue;
  product.path = plan_.path;
  product.scratch = scratch_.view();
  queue_.launch(product);
}

}  // namespace kiln
