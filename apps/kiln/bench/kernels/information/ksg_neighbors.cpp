// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ksg_neighbors.hpp"

#include "bench/kernels/information/ksg_arrays.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<KsgNeighbors>() {
  return ksg_cases([](Queue& queue, KsgArrays& data) { queue.launch(data.neighbors()); });
}

}  // namespace kiln::cli
