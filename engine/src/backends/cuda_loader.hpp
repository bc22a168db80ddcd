// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "kiln/export.hpp"

#include "backends/cuda_module.hpp"

namespace kiln {

/// Finds the file of the CUDA module; empty in a static build that contains the module.
/// @throws NotCompiled (device.not_built) if there is none
KILN_TEST_API std::filesystem::path find_cuda_module();

/// Opens the module and checks that it belongs to this libkiln. It is never closed.
/// @throws PluginError if it cannot be opened or belongs to another build
const CudaModule& load_cuda_module(const std::filesystem::path& path);

}  // namespace kiln
