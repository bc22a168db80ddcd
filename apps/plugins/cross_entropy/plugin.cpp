// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <kiln/plugins/plugin.hpp>

#include "cross_entropy.hpp"
#include "launchers.hpp"

namespace cross_entropy {
namespace {

void add(kiln::PluginRegistrar& plugin) {
  plugin.add(schedule_entry());
  plugin.add_cpu_kernels(kiln::KernelSet<CrossEntropyComponent>(
      &select_elite_on_cpu, &move_probabilities_on_cpu, &draw_states_on_cpu));
#if defined(WITH_CUDA)
  plugin.add_cuda_kernels(kiln::KernelSet<CrossEntropyComponent>(
      &select_elite_on_cuda, &move_probabilities_on_cuda, &draw_states_on_cuda));
#endif
}

}  // namespace
}  // namespace cross_entropy

KILN_PLUGIN("cross_entropy", "1.0", "the cross-entropy method, for spins and binary variables",
            cross_entropy::add)
