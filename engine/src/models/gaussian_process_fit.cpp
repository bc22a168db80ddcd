// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The fit of hyper-parameters: batches of L-BFGS on the device, of which the host looks at the
// ends.
#include <algorithm>
#include <cmath>

#include "kiln/device/normal.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"
#include "kiln/models/minimize_batch.hpp"

#include "idx.hpp"
#include "models/gaussian_process_state.hpp"

namespace kiln {
namespace {

// Processes whose matrices lie side by side while large ones are fitted.
// Numbers that the matrices of a batch of large processes may take; what is more waits its turn.
constexpr std::int64_t max_matrix_numbers = std::int64_t{1} << 28;

// Where a fit begins, in logarithms: where it ended last time, the standard start, and others that
// are spread around it by factors of e.
std::vector<double> starts_of(const std::vector<double>& last, const std::vector<double>& standard,
                              const std::vector<double>& low, const std::vector<double>& high,
                              std::int64_t restarts, DrawName name) {
  const std::size_t n = standard.size();
  std::vector<double> all;
  for (std::int64_t r = 0; r < restarts; ++r) {
    const bool warm = r == 0 && !last.empty();
    const bool plain = r == (last.empty() ? 0 : 1);
    for (std::size_t k = 0; k < n; ++k) {
      double t = warm ? last[k] : standard[k];
      if (!warm && !plain) {
        name.replica = static_cast<std::uint32_t>(r);
        t += normal_quantile(open_unit(draw_word(name, static_cast<std::uint32_t>(k))));
      }
      all.push_back(std::clamp(t, low[k], high[k]));
    }
  }
  return all;
}

}  // namespace

std::vector<double> GaussianProcess::State::logarithms_of(double HyperRange::*member) const {
  std::vector<double> all;
  for (std::int64_t k = 0; k < layout.lengths; ++k)
    all.push_back(std::log(length_range(k).*member));
  all.push_back(std::log(options.variance.*member));
  all.push_back(std::log(options.noise.*member));
  if (options.covariance == CovarianceKind::rational_quadratic) {
    all.push_back(std::log(options.alpha.*member));
  }
  return all;
}

/// Evaluations of the evidence of some processes, each at several vectors of hyper-parameters.
class GaussianProcess::State::Evidence {
 public:
  Evidence(State& state, std::int64_t first, std::int64_t processes, std::int64_t restarts);
  void evaluate_at(View2<const double> logarithms);
  EvidenceGradient& kernel() { return kernel_; }

 private:
  void invert();

  State& state_;
  EvidenceGradient kernel_;
  // For more points than the kernel inverts by itself.
  DeviceArray<double> covariance_, factor_, inverse_, log_determinant_, memory_;
};

GaussianProcess::State::Evidence::Evidence(State& state, std::int64_t first, std::int64_t processes,
                                           std::int64_t restarts)
    : state_(state) {
  const std::int64_t n = state.room, items = processes * restarts;
  kernel_.kind = state.options.covariance;
  kernel_.dimension = state.dimension;
  kernel_.layout = state.layout;
  kernel_.items_per_set = restarts;
  kernel_.points = state.point_sets();
  kernel_.points.data += first * kernel_.points.set_stride;
  kernel_.points.counts = {kernel_.points.counts.data + first, processes};
  kernel_.axes = state.axes.on_device();
  const std::int64_t stride = state.lists * n;
  kernel_.target = {state.targets.data() + first * stride, processes, n, stride};
  kernel_.fitted_mean = state.options.fitted_mean;
  kernel_.prior = {state.priors.data(), state.priors.size()};
  kernel_.items = items;
  if (n <= EvidenceGradient::resident) return;
  Queue& on = *state.queue;
  covariance_ = DeviceArray<double>(on, items * n * n);
  factor_ = DeviceArray<double>(on, items * n * n);
  inverse_ = DeviceArray<double>(on, items * n * n);
  log_determinant_ = DeviceArray<double>(on, items);
  kernel_.inverse = MatrixBatch<double>::dense(inverse_.data(), items, n, n);
  kernel_.log_determinant = log_determinant_.view();
  const std::int64_t size = kernel_.work_size();
  memory_ = DeviceArray<double>(on, items * size);
  kernel_.memory = {memory_.data(), items, size, size};
}

void GaussianProcess::State::Evidence::evaluate_at(View2<const double> logarithms) {
  kernel_.parameter = logarithms;
  if (inverse_.size() > 0) invert();
  state_.queue->launch(kernel_);
}

void GaussianProcess::State::Evidence::invert() {
  Queue& on = *state_.queue;
  const std::int64_t n = state_.room, items = kernel_.items;
  GpCovariance build;
  build.kind = kernel_.kind;
  build.dimension = kernel_.dimension;
  build.items_per_set = kernel_.items_per_set;
  build.points = kernel_.points;
  build.axes = kernel_.axes;
  build.parameters = state_.parameters_of(kernel_.parameter.data, items);
  build.matrix = MatrixBatch<double>::dense(covariance_.data(), items, n, n);
  on.launch(build);
  BatchedCholesky cholesky;
  cholesky.matrix = MatrixBatch<const double>::dense(covariance_.data(), items, n, n);
  cholesky.factor = MatrixBatch<double>::dense(factor_.data(), items, n, n);
  cholesky.log_determinant = log_determinant_.view();
  cholesky.retries = 0;
  on.launch(cholesky);
  BatchedTriangularSolve solve;
  solve.form = TriangularForm::both;
  solve.factor = MatrixBatch<const double>::dense(factor_.data(), items, n, n);
  solve.right = state_.unit_matrix(items);
  solve.solution = kernel_.inverse;
  on.launch(solve);
}

void GaussianProcess::State::fit(std::int64_t restarts) {
  const std::int64_t n = processes();
  theta.clear(), means.clear(), evidence.clear();
  const std::int64_t matrices = room > EvidenceGradient::resident ? 3 * room * room * restarts : 1;
  const std::int64_t at_once = std::clamp<std::int64_t>(max_matrix_numbers / matrices, 1, n);
  for (std::int64_t first = 0; first < n; first += at_once) {
    fit_some(first, std::min(at_once, n - first), restarts);
  }
  keep_hyperparameters();
  for (Memory& one : last) ++one.fits;
}

void GaussianProcess::State::keep_hyperparameters() {
  for (std::size_t p = 0; p < last.size(); ++p) {
    const auto begin = theta.begin() + static_cast<std::ptrdiff_t>(p) * parameters;
    last[p].logarithms.assign(begin, begin + parameters);
  }
}

void GaussianProcess::State::fit_some(std::int64_t first, std::int64_t some,
                                      std::int64_t restarts) {
  const std::vector<double> low = logarithms_of(&HyperRange::low);
  const std::vector<double> high = logarithms_of(&HyperRange::high);
  const std::vector<double> standard = logarithms_of(&HyperRange::start);
  std::vector<double> starts;
  for (std::int64_t p = first; p < first + some; ++p) {
    // By the process alone: one of a batch is fitted from the same starts as one by itself.
    const auto& [before, fits] = last[idx(p)];
    const DrawName name{options.seed, static_cast<std::uint64_t>(fits), 0, RngDomain::choose, 0};
    for (const double t : starts_of(before, standard, low, high, restarts, name))
      starts.push_back(t);
  }
  BatchedMinimizer minimizer(*queue, parameters, starts, low, high);
  // Steps of large processes are expensive, and their evidence is sharp: a warm start needs few.
  const bool large = room > EvidenceGradient::resident;
  const std::int32_t iterations = large ? options.iterations / 2 : options.iterations;
  minimizer.step().max_iterations = iterations;
  minimizer.step().value_tolerance = 1e-6;
  minimizer.step().gradient_tolerance = 1e-4;
  Evidence batch(*this, first, some, restarts);
  DeviceArray<double> fitted_means(*queue, minimizer.items());
  EvidenceGradient& kernel = batch.kernel();
  kernel.value = minimizer.value();
  kernel.gradient = minimizer.gradient();
  kernel.running = minimizer.running();
  minimizer.run(
      2 * iterations, [&] { batch.evaluate_at(minimizer.trial()); }, large);
  // Means belong to the best points, where not all were evaluated last.
  kernel.running = {};
  kernel.gradient = {};
  kernel.mean = fitted_means.view();
  batch.evaluate_at(minimizer.trial());
  take_best(minimizer.points(), minimizer.value_now(), fitted_means.download(), restarts);
}

void GaussianProcess::State::take_best(const std::vector<double>& ends,
                                       const std::vector<double>& values,
                                       const std::vector<double>& fitted_means,
                                       std::int64_t restarts) {
  const auto items = static_cast<std::int64_t>(values.size());
  for (std::int64_t begin = 0; begin < items; begin += restarts) {
    const auto best = std::min_element(values.begin() + begin, values.begin() + begin + restarts) -
                      values.begin();
    for (std::int64_t k = 0; k < parameters; ++k) {
      theta.push_back(ends[idx(best * parameters + k)]);
    }
    means.push_back(fitted_means[idx(best)]);
    evidence.push_back(-values[idx(best)]);
  }
}

void GaussianProcess::State::judge() {
  const std::int64_t n = processes();
  DeviceArray<double> fitted_means(*queue, n), values(*queue, n);
  Evidence batch(*this, 0, n, 1);
  batch.kernel().value = values.view();
  batch.kernel().mean = fitted_means.view();
  batch.evaluate_at({parameter.set(*queue, theta), n, parameters, parameters});
  means = fitted_means.download();
  evidence.clear();
  for (const double value : values.download()) evidence.push_back(-value);
}

}  // namespace kiln
