// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/backend.hpp"
#include "kiln/kernels/linear_algebra/product_path.hpp"

#include "bench/suite.hpp"

namespace kiln::cli {

/// Multiplies under contracts and counts those that are missed, in place of rates.
BenchReport check_products(const BenchRun& run);

/// Whether a device has a path of products.
bool device_has_path(const DeviceInfo& device, ProductPath path);

}  // namespace kiln::cli
