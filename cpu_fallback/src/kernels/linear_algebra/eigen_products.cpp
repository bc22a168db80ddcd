// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "eigen_product.hpp"
#include "kernels/isa.hpp"

namespace kiln::cpu {

const EigenProducts& eigen_products() { return KILN_VARIANT_FOR_ISA(eigen_products); }

}  // namespace kiln::cpu
