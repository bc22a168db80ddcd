// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/models/product.hpp"

// Errors and costs of the paths of a product, for plan_product().
namespace kiln::detail {

/// Whether a device has a path. Packed paths are written for compute capability 9.0.
bool has_path(const DeviceShape& device, ProductPath path);

/// Seconds that a product takes by a path, roughly.
double product_seconds(const ProductShape& shape, ProductPath path, const DeviceShape& device);

}  // namespace kiln::detail
