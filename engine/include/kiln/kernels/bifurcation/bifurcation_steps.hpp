// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/kernels/bifurcation/bifurcation_rule.hpp"
#include "kiln/kernels/bifurcation/kernels.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln {

/// Moves the oscillators of all replicas by some steps of simulated bifurcation.
///
/// In step m of a round of M steps the oscillator of site i with position x and momentum y has the
/// force F = h_i u + sum_j J_ij q_j, q = shown(x) of all positions before the step, u = unit_of().
/// Then bifurcation::moved() gives its new position and momentum. F is h_i u and then the products
/// J_ij q_j in the order of the row, added in double precision, and rounded to single precision.
/// Where the model is integral and the sums are below 2^53, F is an integer in any order.
///
/// The step m follows from the step of the run; steps beyond the limit of the run are left out.
/// Padding slots move as others do. Class E.
/// @par Source  Goto, Endo, Suzuki, Sakai, Kanao, Hamakawa, Hidaka, Yamasaki, Tatsumura, Science
/// Advances 7 (2021) eabe7953 (ballistic and discrete); Kanao, Goto, Communications Physics 5
/// (2022) 153 (heated).
struct KILN_API BifurcationSteps {
  static constexpr const char* name = "bifurcation_steps";
  static constexpr const char* summary =
      "moves the oscillators of all replicas by some steps of simulated bifurcation";

  PairwiseView model;
  View2<float> position, momentum;        ///< [sites][slots], updated in place
  View1<const BifurcationTuning> tuning;  ///< [groups]
  View1<const std::int32_t> rung_of;      ///< [slots], group of each slot
  BifurcationRounds rounds;
  std::uint32_t steps = 1;  ///< in a row
  BifurcationVariant variant = BifurcationVariant::heated_discrete;
  View1<std::byte> scratch;             ///< of a GPU, scratch_bytes(); contents do not matter
  View2<const std::int8_t> matrix;      ///< of BifurcationMatrix; empty: rows
  std::int32_t matrix_unit = 1;         ///< of BifurcationMatrix
  const RunControl* control = nullptr;  ///< step and stop flag
  std::uint32_t step_offset = 0;        ///< number of the first step within the tick

  /// What a GPU needs: the shown values of all positions, before and after a step; with a matrix
  /// all in whole tiles of 128, and the matrix again in the order of its tensor cores.
  static std::int64_t scratch_bytes(std::int64_t sites, std::int64_t slots, bool with_matrix) {
    if (!with_matrix) return 2 * sites * slots;
    const std::int64_t tiles = (sites + 127) / 128, tiles_of_slots = (slots + 127) / 128;
    constexpr std::int64_t tile_bytes = 128 * 128, alignment = 1024;
    return (tiles * tiles + 2 * tiles * tiles_of_slots) * tile_bytes + 4 * tiles_of_slots +
           alignment;
  }
  /// What the CPU needs: tasks of 16, 32 or 64 slots, as wide as leaves one for each thread, with
  /// shown values of 16 bits and four rows.
  static int slots_of_task(std::int64_t slots, std::int64_t threads) {
    int width = 64;
    while (width > 16 && (slots % width != 0 || slots / width < threads)) width /= 2;
    return width;
  }
  static HostTasks host_tasks(std::int64_t sites, std::int64_t slots, std::int64_t threads) {
    const std::int64_t width = slots_of_task(slots, threads);
    return {slots / width, static_cast<std::uint64_t>(sites * (4 * width + 8) + 2 * 64)};
  }
  /// Steps of this launch that the run still makes: the first ones that RunControl::active()
  /// allows.
  KILN_HD std::uint32_t active_steps() const {
    if (control->stop != DeviceStop::none) return 0;
    const std::uint64_t first = control->step + step_offset, tick = control->tick_sweeps;
    std::uint64_t left = first < control->step_limit ? control->step_limit - first : 0;
    if (tick != 0 && step_offset >= tick) return 0;
    if (tick != 0 && left > tick - step_offset) left = tick - step_offset;
    return left < steps ? static_cast<std::uint32_t>(left) : steps;
  }
  /// Where step s of this launch lies.
  KILN_HD BifurcationRounds::Place place_of(std::uint32_t s) const {
    return rounds.at(control->step + step_offset + s);
  }
  /// Whether forces are integers that 32 bits hold, 127 2^23 at most. Then kernels may add in any
  /// order.
  KILN_HD bool forces_fit_int32() const {
    return model.integral && model.arithmetic != Arithmetic::wide;
  }
  double bytes() const {
    return 2 * (bytes_of(position) + bytes_of(momentum)) + model.bytes() + bytes_of(matrix);
  }
};

}  // namespace kiln
