// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "random_bits_impl.hpp"

namespace kiln::cpu {

void random_bits_avx2(const RandomBitsJob& job) { random_bits(job); }

}  // namespace kiln::cpu
