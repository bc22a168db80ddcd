// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/backends_boltzmann.hpp"

#include <cmath>

namespace kiln::test {
namespace {

std::vector<double> flat(const std::vector<BoltzmannNorm>& all) {
  std::vector<double> values;
  for (const BoltzmannNorm& one : all) {
    values.insert(values.end(), {one.e0, one.log_s, one.log_z, one.free_energy});
  }
  return values;
}

std::vector<double> flat(const std::vector<BoltzmannMoments>& all) {
  std::vector<double> values;
  for (const BoltzmannMoments& one : all) {
    values.insert(values.end(), {one.mean_energy, one.entropy, one.heat_capacity});
  }
  return values;
}

}  // namespace

std::tuple<std::vector<std::uint64_t>, std::vector<std::uint64_t>, std::vector<std::uint64_t>,
           std::int32_t, BoltzmannStatus>
BoltzmannOutputs::row(std::int64_t row) const {
  std::vector<double> all;
  for (std::int64_t j = 0; j < columns; ++j) {
    all.push_back(p(row, j));
    all.push_back(static_cast<double>(p_f32(row, j)));
  }
  return {bits_of(all), bits_of(norm_of(row)), bits_of(moments_of(row)), drawn[idx(row)],
          status[idx(row)]};
}

BoltzmannInputs make_boltzmann(std::int64_t rows, std::int64_t columns) {
  BoltzmannInputs inputs;
  inputs.rows = rows;
  inputs.columns = columns;
  inputs.row_stride = columns;
  TestRandom random(idx(rows * 31 + columns));
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    inputs.energy.push_back(20 * random.unit() - 13);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    inputs.beta.push_back(std::ldexp(0.01 + random.unit(), static_cast<int>(row % 3)));
  }
  inputs.names = make_names(rows, 1, 77);
  inputs.control.step = 3;
  return inputs;
}

BoltzmannInputs one_row(const std::vector<double>& energy, double beta) {
  BoltzmannInputs inputs = make_boltzmann(1, static_cast<std::int64_t>(energy.size()));
  inputs.energy = energy;
  inputs.beta = {beta};
  return inputs;
}

BoltzmannInputs alone(const BoltzmannInputs& batch, std::int64_t row) {
  BoltzmannInputs one = batch;
  one.rows = 1;
  const auto begin = batch.energy.begin() + row * batch.row_stride;
  one.energy.assign(begin, begin + batch.columns);
  one.beta = {batch.beta[idx(row)]};
  one.names = {{batch.names.key[idx(row)]}, {batch.names.replica[idx(row)]}};
  return one;
}

BoltzmannInputs restrided(const BoltzmannInputs& inputs, std::int64_t row_stride,
                          std::int64_t column_stride) {
  BoltzmannInputs out = inputs;
  out.row_stride = row_stride;
  out.column_stride = column_stride;
  const std::int64_t size =
      (inputs.rows - 1) * row_stride + (inputs.columns - 1) * column_stride + 1;
  out.energy.assign(idx(size), -1e6);  // would win if it were read
  for (std::int64_t row = 0; row < inputs.rows; ++row) {
    for (std::int64_t j = 0; j < inputs.columns; ++j) {
      out.energy[idx(row * row_stride + j * column_stride)] = inputs.at(row, j);
    }
  }
  return out;
}

BoltzmannOutputs run_boltzmann(Queue& queue, const BoltzmannInputs& in) {
  const DeviceArray<double> energy(queue, in.energy), beta(queue, in.beta);
  const DeviceArray<std::int32_t> rung(queue, in.rung);
  const DeviceNames names(queue, in.names);
  const DeviceArray<RunControl> control = upload_control(queue, in.control);
  const std::size_t rows = idx(in.rows);
  DeviceArray<double> p(queue, std::vector<double>(in.energy.size(), untouched));
  DeviceArray<float> p_f32(queue,
                           std::vector<float>(in.energy.size(), static_cast<float>(untouched)));
  DeviceArray<BoltzmannNorm> norm(queue, std::vector<BoltzmannNorm>(rows));
  DeviceArray<BoltzmannMoments> moments(queue, std::vector<BoltzmannMoments>(rows));
  DeviceArray<std::int32_t> drawn(queue, std::vector<std::int32_t>(rows, -7));
  DeviceArray<BoltzmannStatus> status(queue, std::vector<BoltzmannStatus>(rows));

  BoltzmannProbabilities kernel;
  kernel.rows = in.rows;
  kernel.columns = in.columns;
  kernel.energy = {energy.data(), in.row_stride, in.column_stride};
  kernel.beta = beta.view();
  kernel.rung_of = rung.view();
  kernel.inverse_scale = in.inverse_scale;
  if (in.wanted.probability) kernel.probability = {p.data(), in.row_stride, in.column_stride};
  if (in.wanted.probability_f32) {
    kernel.probability_f32 = {p_f32.data(), in.row_stride, in.column_stride};
  }
  if (in.wanted.norm) kernel.norm = norm.view();
  if (in.wanted.moments) kernel.moments = moments.view();
  if (in.wanted.drawn) kernel.drawn = drawn.view();
  if (in.wanted.status) kernel.status = status.view();
  kernel.draw_ids = names.view();
  kernel.attempt = in.attempt;
  kernel.control = control.data();
  kernel.step_offset = in.offset;
  queue.launch(kernel);
  return {in.columns,       in.row_stride,         in.column_stride,         p.download(),
          p_f32.download(), flat(norm.download()), flat(moments.download()), drawn.download(),
          status.download()};
}

}  // namespace kiln::test
