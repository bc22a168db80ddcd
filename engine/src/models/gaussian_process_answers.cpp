// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a conditioned Gaussian process is asked for.
#include <algorithm>
#include <cmath>

#include "kiln/device/normal.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"
#include "kiln/kernels/rows/elementwise.hpp"
#include "kiln/kernels/surrogate/pathwise_samples.hpp"

#include "idx.hpp"
#include "models/gaussian_process_state.hpp"

namespace kiln {
namespace {

// Joint posterior covariances at points, of a process in standard units. On the host: it is for few
// points.
class JointCovariance {
 public:
  JointCovariance(const GaussianProcessOptions& options, const Hyperparameters& of, Axes axes,
                  std::int64_t dimension)
      : options_(options), of_(of), axes_(axes), dimension_(dimension) {}

  double prior(const double* a, const double* b) const {
    double square = 0;
    for (std::int64_t k = 0; k < dimension_; ++k) {
      const double length = of_.lengths[of_.lengths.size() == 1 ? 0 : idx(k)];
      const double d = axes_.difference(k, a[k], b[k]) / length;
      square += d * d;
    }
    return of_.variance * correlation_slope(options_.covariance, square, of_.alpha).value;
  }

 private:
  const GaussianProcessOptions& options_;
  const Hyperparameters& of_;
  Axes axes_;
  std::int64_t dimension_;
};

}  // namespace

std::vector<double> GaussianProcess::State::known_points(std::int64_t process) {
  std::vector<double> all(idx(dimension * room)), known;
  queue->download(all.data(), points.data() + process * dimension * room,
                  all.size() * sizeof(double));
  for (std::int64_t i = 0; i < counts[idx(process)]; ++i) {
    for (std::int64_t k = 0; k < dimension; ++k) known.push_back(all[idx(k * room + i)]);
  }
  return known;
}

AcquisitionGradient GaussianProcess::acquisition(std::int64_t outputs) const {
  State& s = *state_;
  if (!s.conditioned) {
    throw InvalidArgument("process.fit",
                          "the process is not fitted; call fit() before you ask for predictions");
  }
  const std::int64_t n = s.processes();
  if (outputs < 1 || n % outputs != 0) {
    throw InvalidArgument("process.outputs", std::to_string(n) +
                                                 " processes cannot be divided into studies of " +
                                                 std::to_string(outputs) + " outputs each");
  }
  AcquisitionGradient kernel;
  kernel.covariance = s.options.covariance;
  kernel.dimension = s.dimension;
  kernel.layout = s.layout;
  kernel.outputs = outputs;
  kernel.points = s.point_sets();
  kernel.points.set_stride *= outputs;
  kernel.points.counts = {};
  kernel.counts = {s.count.data(), n};
  kernel.axes = s.axes.on_device();
  kernel.parameter = {s.parameter.data(), n, s.parameters, s.parameters};
  kernel.mean = {s.mean.data(), n};
  kernel.inverse_factor = MatrixBatch<const double>::dense(s.inverse.data(), n, s.room, s.room);
  kernel.weight = MatrixBatch<const double>::dense(s.weights.data(), n, s.lists, s.room);
  return kernel;
}

Predictions GaussianProcess::predict(std::int64_t process,
                                     const std::vector<double>& points) const {
  const State& s = *state_;
  AcquisitionGradient kernel = acquisition();
  if (process < 0 || process >= s.processes() || points.size() % idx(s.dimension) != 0) {
    throw InvalidArgument("process.points",
                          "process " + std::to_string(process) + " does not exist, or " +
                              std::to_string(points.size()) +
                              " coordinates do not form whole points",
                          "a process in 0 .. " + std::to_string(s.processes() - 1) + ", and " +
                              std::to_string(s.dimension) + " coordinates for each point");
  }
  const auto m = static_cast<std::int64_t>(points.size()) / s.dimension;
  Predictions out;
  if (m == 0) return out;
  kernel.first_study = process;
  Queue& queue = *s.queue;
  const DeviceArray<double> at(queue, points);
  DeviceArray<double> mean(queue, m * s.lists), variance(queue, m);
  kernel.items_per_study = m;
  kernel.at = {at.data(), m, s.dimension, s.dimension};
  kernel.predicted = MatrixBatch<double>::dense(mean.data(), m, 1, s.lists);
  kernel.variance = {variance.data(), m, 1, 1};
  queue.launch(kernel);
  const std::vector<double> means = mean.download();
  const Scale scale = s.scales[idx(process)];
  out.variance = variance.download();
  for (std::int64_t i = 0; i < m; ++i) {
    out.mean.push_back(scale.centre + scale.scale * means[idx(i * s.lists)]);
    out.variance[idx(i)] *= scale.scale * scale.scale;
  }
  return out;
}

Predictions GaussianProcess::leave_one_out(std::int64_t process) const {
  State& s = *state_;
  acquisition();  // refuses what is not fitted
  if (process < 0 || process >= s.processes()) {
    throw InvalidArgument("process.number",
                          "process " + std::to_string(process) + " does not exist",
                          "0 .. " + std::to_string(s.processes() - 1));
  }
  const Scale scale = s.scales[idx(process)];
  const Observations& seen = s.observations[idx(process)];
  std::vector<double> weight(idx(s.room)), diagonal(idx(s.room));
  s.queue->download(weight.data(), s.weights.data() + process * s.lists * s.room,
                    weight.size() * sizeof(double));
  s.queue->download(diagonal.data(), s.diagonal.data() + process * s.room,
                    diagonal.size() * sizeof(double));
  Predictions out;
  for (std::size_t i = 0; i < seen.values.size(); ++i) {
    out.mean.push_back(seen.values[i] - scale.scale * weight[i] / diagonal[i]);
    out.variance.push_back(scale.scale * scale.scale / diagonal[i]);
  }
  return out;
}

std::vector<double> GaussianProcess::draw_paths(const std::vector<double>& points, std::int64_t m,
                                                std::int64_t draws,
                                                const std::vector<std::uint64_t>& keys) const {
  State& s = *state_;
  acquisition();  // refuses what is not fitted
  Queue& queue = *s.queue;
  const std::int64_t n = s.processes();
  if (m < 1 || draws < 1 || points.size() != idx(n * s.dimension * m) || keys.size() != idx(n)) {
    throw InvalidArgument(
        "process.points",
        "draw_paths() needs the same number of points, and one key, for each process");
  }
  // Units of the processes: mean in standard units, less the mean, scale, centre.
  std::vector<double> units;
  for (const double mean : s.means) units.push_back(mean);
  for (const double mean : s.means) units.push_back(-mean);
  for (const Scale& scale : s.scales) units.push_back(scale.scale);
  for (const Scale& scale : s.scales) units.push_back(scale.centre);
  const DeviceArray<double> of_units(queue, units), places(queue, points);
  // Unit `u` of each process, for all values of a row.
  const auto unit = [&](std::int64_t u, std::int64_t columns) {
    return Elements(of_units.data() + u * n, ElementType::float64, n, columns, 1, 0);
  };
  // Paths have mean 0: what is left of the targets of the first list.
  DeviceArray<double> targets(queue, n * s.room);
  Elementwise residual(View2<const double>{s.targets.data(), n, s.room, s.lists * s.room},
                       View2<double>{targets.data(), n, s.room, s.room});
  queue.launch(residual.add(unit(1, s.room)));
  const DeviceArray<std::uint64_t> names(queue, keys);
  DeviceArray<double> weight(queue, n * s.room * draws), values(queue, n * draws * m);
  PathwiseSamples paths;
  paths.kind = s.options.covariance;
  paths.dimension = s.dimension;
  paths.paths = draws;
  paths.training = s.point_sets();
  paths.axes = s.axes.on_device();
  paths.parameters = s.parameters_of(s.parameter.data(), n);
  paths.keys = names.view();
  paths.observed = {targets.data(), n, s.room, s.room};
  paths.residual = MatrixBatch<double>::dense(weight.data(), n, s.room, draws);
  paths.stage = PathwiseStage::residual;
  queue.launch(paths);
  BatchedTriangularSolve solve;
  solve.form = TriangularForm::both;
  solve.factor = MatrixBatch<const double>::dense(s.factor.data(), n, s.room, s.room);
  solve.right = MatrixBatch<const double>::dense(weight.data(), n, s.room, draws);
  solve.solution = MatrixBatch<double>::dense(weight.data(), n, s.room, draws);
  queue.launch(solve);
  paths.stage = PathwiseStage::values;
  paths.points = {places.data(), m, m, m * s.dimension, {}};
  paths.weight = MatrixBatch<const double>::dense(weight.data(), n, s.room, draws);
  paths.value = MatrixBatch<double>::dense(values.data(), n, draws, m);
  queue.launch(paths);
  const std::int64_t each = draws * m;
  Elementwise scaled(View2<const double>{values.data(), n, each, each},
                     View2<double>{values.data(), n, each, each});
  queue.launch(scaled.add(unit(0, each)).multiply(unit(2, each)).add(unit(3, each)));
  return values.download();
}

std::vector<std::vector<double>> GaussianProcess::sample(std::int64_t process,
                                                         const std::vector<double>& points,
                                                         std::int64_t draws,
                                                         std::uint64_t seed) const {
  State& s = *state_;
  const Predictions at = predict(process, points);
  const std::size_t m = at.mean.size(), n = idx(s.counts[idx(process)]);
  if (m == 0 || draws < 1)
    return std::vector<std::vector<double>>(idx(std::max<std::int64_t>(0, draws)));
  const std::vector<double> known = s.known_points(process);
  const Hyperparameters of = hyperparameters()[idx(process)];
  const JointCovariance joint(s.options, of, s.axes.on_host(), s.dimension);
  std::vector<double> inverse(idx(s.room * s.room));
  s.queue->download(inverse.data(), s.inverse.data() + process * s.room * s.room,
                    inverse.size() * sizeof(double));
  // Rows of L^-1 k for each point.
  std::vector<double> half(m * n), covariance(m * m), column(n);
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t i = 0; i < n; ++i) {
      column[i] = joint.prior(&points[a * idx(s.dimension)], &known[i * idx(s.dimension)]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        half[a * n + i] += inverse[i * idx(s.room) + j] * column[j];
    }
  }
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double value = joint.prior(&points[a * idx(s.dimension)], &points[b * idx(s.dimension)]);
      for (std::size_t i = 0; i < n; ++i) value -= half[a * n + i] * half[b * n + i];
      covariance[a * m + b] = covariance[b * m + a] = value;
    }
    covariance[a * m + a] += 1e-10 * of.variance;  // what is known has no variance left
  }
  const DeviceArray<double> matrix(*s.queue, covariance);
  DeviceArray<double> factor(*s.queue, static_cast<std::int64_t>(m * m));
  BatchedCholesky cholesky;
  const auto size = static_cast<std::int64_t>(m);
  cholesky.matrix = MatrixBatch<const double>::dense(matrix.data(), 1, size, size);
  cholesky.factor = MatrixBatch<double>::dense(factor.data(), 1, size, size);
  s.queue->launch(cholesky);
  const std::vector<double> l = factor.download();
  std::vector<std::vector<double>> all;
  const double scale = s.scales[idx(process)].scale;
  for (std::int64_t draw = 0; draw < draws; ++draw) {
    const DrawName name{seed, static_cast<std::uint64_t>(draw), 0, RngDomain::choose, 1};
    std::vector<double> normal, one(at.mean);
    for (std::size_t b = 0; b < m; ++b) {
      normal.push_back(normal_quantile(open_unit(draw_word(name, static_cast<std::uint32_t>(b)))));
    }
    for (std::size_t a = 0; a < m; ++a) {
      for (std::size_t b = 0; b <= a; ++b) one[a] += scale * l[a * m + b] * normal[b];
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace kiln
