// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "triangle_impl.hpp"

namespace kiln::cpu {

void triangle_avx512(const TriangleJob& job) { triangle(job); }

}  // namespace kiln::cpu
