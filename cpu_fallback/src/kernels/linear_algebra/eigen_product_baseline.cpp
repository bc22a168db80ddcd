// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#define Eigen kiln_eigen_baseline

#include "eigen_product_impl.hpp"

namespace kiln::cpu {

const EigenProducts eigen_products_baseline{multiply<double>};

}  // namespace kiln::cpu
