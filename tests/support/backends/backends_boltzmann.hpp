// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "kiln/kernels/sweeps/boltzmann_probabilities.hpp"

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"

namespace kiln::test {

/// What results hold before a launch.
inline constexpr double untouched = -17.0;

struct BoltzmannWanted {
  bool probability = false, probability_f32 = false, norm = false, moments = false, drawn = false,
       status = false;
};

struct BoltzmannInputs {
  std::int64_t rows = 1, columns = 0;
  std::int64_t row_stride = 0, column_stride = 1;  ///< of energies and probabilities alike
  std::vector<double> energy;
  std::vector<double> beta;
  std::vector<std::int32_t> rung;  ///< empty: row r is at beta[r]
  double inverse_scale = 1;
  HostNames names;
  RunControl control;
  std::uint32_t attempt = 0, offset = 0;
  BoltzmannWanted wanted{true, true, true, true, true, true};

  double at(std::int64_t row, std::int64_t column) const {
    return energy[idx(row * row_stride + column * column_stride)];
  }
  double beta_of(std::int64_t row) const {
    return beta[rung.empty() ? idx(row) : idx(rung[idx(row)])] * inverse_scale;
  }
};

struct BoltzmannOutputs {
  std::int64_t columns = 0, row_stride = 0, column_stride = 0;
  std::vector<double> probability;
  std::vector<float> probability_f32;
  std::vector<double> norm;     ///< [rows][4]: e0, log_s, log_z, free energy
  std::vector<double> moments;  ///< [rows][3]: mean energy, entropy, heat capacity
  std::vector<std::int32_t> drawn;
  std::vector<BoltzmannStatus> status;

  double p(std::int64_t row, std::int64_t column) const {
    return probability[idx(row * row_stride + column * column_stride)];
  }
  float p_f32(std::int64_t row, std::int64_t column) const {
    return probability_f32[idx(row * row_stride + column * column_stride)];
  }
  double log_z(std::int64_t row) const { return norm_of(row)[2]; }
  std::vector<double> norm_of(std::int64_t row) const {
    return {norm.begin() + 4 * row, norm.begin() + 4 * row + 4};
  }
  std::vector<double> moments_of(std::int64_t row) const {
    return {moments.begin() + 3 * row, moments.begin() + 3 * row + 3};
  }
  /// All bits of a row.
  std::tuple<std::vector<std::uint64_t>, std::vector<std::uint64_t>, std::vector<std::uint64_t>,
             std::int32_t, BoltzmannStatus>
  row(std::int64_t row) const;
};

/// Random energies, one beta a row between 0.01 and 4, control at step 3.
BoltzmannInputs make_boltzmann(std::int64_t rows, std::int64_t columns);
BoltzmannInputs one_row(const std::vector<double>& energy, double beta);
/// One row of a batch that has its rows one after the other.
BoltzmannInputs alone(const BoltzmannInputs& batch, std::int64_t row);
/// The same energies in another order, with anything in between.
BoltzmannInputs restrided(const BoltzmannInputs& inputs, std::int64_t row_stride,
                          std::int64_t column_stride);

BoltzmannOutputs run_boltzmann(Queue& queue, const BoltzmannInputs& inputs);

}  // namespace kiln::test
