// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/summarize.hpp"

#include <algorithm>

#include "kiln/device/exact_math.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const Summarize& kernel, Queue&) {
  RunSummary& out = kernel.target.slot();
  out.control = *kernel.control;
  out.min_energy = exact::infinity();
  out.accepted = out.not_finite = 0;
  out.beta = kernel.beta.size > 0 ? kernel.beta[0] : 0;
  double sum = 0;
  for (std::int64_t r = 0; r < kernel.replicas; ++r) {
    sum += kernel.energy[r];
    out.min_energy = std::min(out.min_energy, kernel.energy[r]);
    out.accepted += kernel.accepted[r];
    out.not_finite += kernel.not_finite[r];
  }
  out.mean_energy = kernel.replicas > 0 ? sum / static_cast<double>(kernel.replicas) : 0;
}

}  // namespace kiln::cpu
