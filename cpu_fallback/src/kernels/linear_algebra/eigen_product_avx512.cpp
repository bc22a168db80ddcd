// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#define Eigen kiln_eigen_avx512

#include "eigen_product_impl.hpp"

namespace kiln::cpu {

const EigenProducts eigen_products_avx512{multiply<double>};

}  // namespace kiln::cpu
