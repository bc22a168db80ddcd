// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/joint_histogram.hpp"

#include <algorithm>

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const JointHistogram& kernel, Queue& queue) {
  pool_of(queue).for_each(kernel.pairs.size, [&](std::int64_t number) {
    const JointHistogram::Pair pair = kernel.pairs[number];
    std::int32_t* const counts = &kernel.counts(number, 0);
    std::fill_n(counts, kernel.y_codes * kernel.x_codes, 0);
    for (std::int64_t i = 0; i < kernel.codes.columns; ++i) ++counts[kernel.cell(pair, i)];
  });
}

}  // namespace kiln::cpu
