// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"

#include <algorithm>
#include <utility>

#include "bifurcation_tile.hpp"
#include "kernels/isa.hpp"
#include "launch.hpp"

namespace kiln::cpu {
namespace {

const BifurcationFunctions& bifurcation_functions() {
#if defined(KILN_X86_64) && KILN_X86_64
  if (chosen_isa() == Isa::avx512 && __builtin_cpu_supports("avx512vnni")) {
    return bifurcation_vnni_avx512;
  }
#endif
  return KILN_VARIANT_FOR_ISA(bifurcation);
}

void describe_bifurcation(const BifurcationSteps& kernel, BifurcationJob& job) {
  const PairwiseView& model = kernel.model;
  job.n_sites = model.n_sites;
  job.row_begin = model.row_begin.data;
  job.entries = model.entries.data;
  job.weights = model.arithmetic == Arithmetic::wide ? model.weights_f64.data : nullptr;
  job.field = model.field.data;
  job.base = model.base.data;
  job.matrix = kernel.matrix.data;
  job.matrix_stride = kernel.matrix.stride;
  job.matrix_unit = kernel.matrix_unit;
  job.integers = kernel.forces_fit_int32();
  job.variant = kernel.variant;
  job.stride = kernel.position.stride;
}

void describe_slots(const BifurcationSteps& kernel, std::int64_t first, BifurcationJob& job) {
  job.position = kernel.position.data + first;
  job.momentum = kernel.momentum.data + first;
  for (int l = 0; l < job.width; ++l) {
    const BifurcationTuning& tuning = kernel.tuning[kernel.rung_of[first + l]];
    job.force[l] = tuning.force;
    job.step[l] = tuning.step;
    job.gain[l] = tuning.gain;
  }
}

void run_tile(const BifurcationSteps& kernel, const BifurcationFunctions& functions,
              std::uint32_t steps, std::byte* scratch, BifurcationJob& job) {
  const std::size_t bytes = whole_lines(shown_bytes(job.n_sites, job.width));
  job.next = scratch;
  job.shown = scratch + bytes;
  job.rows = scratch + 2 * bytes;
  functions.show(job);
  for (std::uint32_t s = 0; s < steps; ++s) {
    std::swap(job.shown, job.next);
    const BifurcationRounds::Place place = kernel.place_of(s);
    for (int l = 0; l < job.width; ++l) {
      job.detuning[l] = bifurcation::detuning(job.step[l], place.step, place.length);
    }
    functions.step(job);
  }
}

}  // namespace

template <>
void launch(const BifurcationSteps& kernel, Queue& queue) {
  const std::uint32_t steps = kernel.active_steps();
  const std::int64_t slots = kernel.position.columns;
  if (steps == 0 || slots == 0 || kernel.model.n_sites == 0) return;
  const BifurcationFunctions& functions = bifurcation_functions();
  const int threads = static_cast<CpuQueue&>(queue).pool().threads();
  const int width = BifurcationSteps::slots_of_task(slots, threads);
  const std::size_t bytes =
      BifurcationSteps::host_tasks(kernel.model.n_sites, slots, threads).bytes;
  for_each_with_scratch(queue, slots / width, bytes, [&](std::int64_t tile, std::byte* scratch) {
    BifurcationJob job;
    describe_bifurcation(kernel, job);
    job.width = width;
    describe_slots(kernel, tile * width, job);
    run_tile(kernel, functions, steps, scratch, job);
  });
}

}  // namespace kiln::cpu
