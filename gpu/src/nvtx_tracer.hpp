// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/profile/tracer.hpp"

namespace kiln::cuda {

/// The NVTX ranges of the process, in the domain "kiln"; null unless KILN_NVTX=1 is in the
/// environment. Profilers such as Nsight Systems show them beside the work of the device.
Tracer* nvtx_tracer();

}  // namespace kiln::cuda
