// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ksg_counts.hpp"

#include "bench/kernels/information/ksg_arrays.hpp"

namespace kiln::cli {

// Within the distances of the neighbours, which ksg_neighbors has found before.
template <>
std::vector<KernelCase> bench_cases<KsgCounts>() {
  return ksg_cases([](Queue& queue, KsgArrays& data) { queue.launch(data.counts()); });
}

}  // namespace kiln::cli
