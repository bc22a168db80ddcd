// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/models/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/device/normal.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"
#include "kiln/kernels/surrogate/posterior_weights.hpp"

#include "idx.hpp"
#include "models/gaussian_process_state.hpp"

namespace kiln {
namespace {

void refuse_unless(bool good, const std::string& code, const std::string& message) {
  if (!good) throw InvalidArgument(code, message);
}

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

// Constant observations have no scale of their own. Sums are made in units of a power of two, so
// that no square overflows or vanishes.
GaussianProcess::Scale scale_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double largest = 0;
  for (const double y : values) largest = std::max(largest, std::abs(y));
  if (largest == 0) return {0, 1};
  const int unit = std::ilogb(largest);
  double mean = 0, square = 0;
  for (const double y : values) mean += std::scalbn(y, -unit) / n;
  for (const double y : values) {
    const double off = std::scalbn(y, -unit) - mean;
    square += off * off / std::max(1.0, n - 1);
  }
  const double sd = std::sqrt(square);
  const bool varies = sd > 1e-12 * std::abs(mean) && sd > 0;
  return {std::scalbn(mean, unit), varies ? std::scalbn(sd, unit) : 1.0};
}

// Every k-th observation.
Observations thinned(const Observations& all, std::int64_t most, std::int64_t dimension) {
  const auto n = static_cast<std::int64_t>(all.values.size());
  if (n <= most) return all;
  Observations some;
  for (std::int64_t i = 0; i < most; ++i) {
    const std::int64_t from = i * n / most;
    some.values.push_back(all.values[idx(from)]);
    some.points.insert(some.points.end(), all.points.begin() + from * dimension,
                       all.points.begin() + (from + 1) * dimension);
  }
  return some;
}

}  // namespace

GaussianProcessOptions GaussianProcessOptions::preset(const std::string& name,
                                                      std::int64_t dimension) {
  refuse_unless(dimension >= 1, "process.dimension",
                "a Gaussian process needs at least one coordinate");
  const auto d = static_cast<double>(dimension);
  GaussianProcessOptions o;
  o.alpha = {1e-2, 1e2, {}, 1};
  // Categories are 1 apart at most, however many variables there are; what differs in one of them
  // mostly shares much.
  o.category = {0.1, 1e2, HyperPrior::around(1, 0.8), 1};
  if (name == "dimension-scaled") {
    const double centre = std::sqrt(2.0) + 0.5 * std::log(d);
    o.length = {0.025, 1e3, HyperPrior::log_normal(centre, std::sqrt(3.0)), 0.5 * std::sqrt(d)};
    o.variance = HyperRange::fixed(1);
    o.noise = {1e-6, 1, HyperPrior::log_normal(-4, 1), 1e-3};
  } else if (name == "weak") {
    const double centre = std::sqrt(2.0) + 0.5 * std::log(d);
    o.length = {1e-2, 1e3, HyperPrior::around(centre, 3), 0.5 * std::sqrt(d)};
    // Of few points each axis by itself looks as if nothing depended on it: lengths are believed to
    // differ by factors of e only.
    o.length.prior.alike = 1;
    o.variance = {1e-3, 1e3, {}, 1};
    o.noise = {1e-10, 1, HyperPrior::around(-10, 5), 1e-4};
  } else if (name == "gamma") {
    o.length = {0.01, 1e3, HyperPrior::gamma(3, 6), 0.5};
    o.variance = {1e-2, 1e2, HyperPrior::gamma(2, 0.15), 1};
    o.noise = {1e-6, 1, HyperPrior::gamma(1.1, 0.05), 1e-2};
  } else if (name == "trust-region") {
    o.length = {0.005, 2, {}, 0.5};
    o.variance = {0.05, 20, {}, 1};
    o.noise = {5e-4, 0.2, {}, 5e-3};
  } else if (name == "none") {
    o.length = {1e-3, 1e3, {}, 0.5 * std::sqrt(d)};
    o.variance = {1e-3, 1e3, {}, 1};
    o.noise = {1e-8, 1, {}, 1e-4};
    o.category.prior = {};
  } else {
    throw InvalidArgument("process.priors", "unknown set of priors '" + name + "'",
                          "weak, dimension-scaled, gamma, trust-region, none");
  }
  return o;
}

GaussianProcess::GaussianProcess(Queue& queue, std::int64_t dimension,
                                 GaussianProcessOptions options,
                                 std::vector<std::uint8_t> categorical,
                                 std::vector<CategorySimilarity> similarity)
    : state_(std::make_unique<State>()) {
  refuse_unless(dimension >= 1, "process.dimension",
                "a Gaussian process needs at least one coordinate");
  const bool with_alpha = options.covariance == CovarianceKind::rational_quadratic;
  for (const HyperRange& range : {options.length, options.variance, options.noise,
                                  with_alpha ? options.alpha : options.noise}) {
    refuse_unless(range.low > 0 && range.low <= range.start && range.start <= range.high &&
                      std::isfinite(range.high),
                  "process.range", "bounds of a hyperparameter need 0 < low <= start <= high");
  }
  refuse_unless(options.restarts >= 1, "process.restarts", "a fit needs at least one start");
  State& s = *state_;
  s.queue = &queue;
  s.dimension = dimension;
  s.options = options;
  s.layout.lengths = s.options.axis_lengths ? dimension : 1;
  s.parameters = HyperLayout::size(s.layout.lengths, s.options.covariance);
  s.axes = AxisTables(queue, dimension, std::move(categorical), std::move(similarity));
  std::vector<HyperPrior> priors;
  for (std::int64_t k = 0; k < s.layout.lengths; ++k) {
    priors.push_back(s.length_range(k).prior);
  }
  priors.push_back(s.options.variance.prior);
  priors.push_back(s.options.noise.prior);
  if (s.options.covariance == CovarianceKind::rational_quadratic) {
    priors.push_back(s.options.alpha.prior);
  }
  s.priors = DeviceArray<HyperPrior>(queue, priors);
}

GaussianProcess::~GaussianProcess() = default;
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;

void GaussianProcess::observe(const std::vector<Observations>& all) {
  State& s = *state_;
  refuse_unless(!all.empty(), "process.observations",
                "observe() needs the observations of at least one process");
  for (const Observations& one : all) {
    refuse_unless(!one.values.empty(), "process.observations", "a process has no observations");
    refuse_unless(one.points.size() == one.values.size() * idx(s.dimension), "process.observations",
                  std::to_string(one.values.size()) + " values were given with " +
                      std::to_string(one.points.size()) + " coordinates; expected " +
                      std::to_string(s.dimension) + " coordinates for each value");
    refuse_unless(all_finite(one.points) && all_finite(one.values), "process.observations",
                  "an observation is not finite");
  }
  if (all.size() != s.last.size()) s.last.assign(all.size(), {}), s.theta.clear();
  s.means.clear(), s.evidence.clear();
  s.conditioned = false;
  s.observations = all;
  s.scales.clear();
  for (const Observations& one : all) s.scales.push_back(scale_of(one.values));
  s.upload({});
}

PointSets GaussianProcess::State::point_sets() {
  return {points.data(), room, room, room * dimension, {count.data(), processes()}};
}

void GaussianProcess::State::upload(const std::vector<PendingPoints>& pending) {
  const std::int64_t n = processes();
  waiting = !pending.empty();
  lists = pending.empty() ? 1 : static_cast<std::int64_t>(pending.front().values.size());
  lists = std::max<std::int64_t>(1, lists);
  counts.assign(idx(n), 0);
  std::int64_t most = 0;
  const auto pending_of = [&](std::int64_t p) {
    return pending.empty() ? std::int64_t{0}
                           : static_cast<std::int64_t>(pending[idx(p)].points.size()) / dimension;
  };
  for (std::int64_t p = 0; p < n; ++p) {
    const auto seen = static_cast<std::int64_t>(observations[idx(p)].values.size());
    counts[idx(p)] = static_cast<std::int32_t>(seen + pending_of(p));
    most = std::max(most, seen + pending_of(p));
  }
  room = most;
  std::vector<double> x(idx(n * dimension * room)), y(idx(n * lists * room));
  for (std::int64_t p = 0; p < n; ++p) {
    const Observations& seen = observations[idx(p)];
    const auto before = static_cast<std::int64_t>(seen.values.size());
    for (std::int64_t i = 0; i < counts[idx(p)]; ++i) {
      const bool known = i < before;
      const double* const point = known ? &seen.points[idx(i * dimension)]
                                        : &pending[idx(p)].points[idx((i - before) * dimension)];
      for (std::int64_t k = 0; k < dimension; ++k)
        x[idx((p * dimension + k) * room + i)] = point[k];
      for (std::int64_t list = 0; list < lists; ++list) {
        const double value =
            known ? seen.values[idx(i)] : pending[idx(p)].values[idx(list)][idx(i - before)];
        y[idx((p * lists + list) * room + i)] =
            (value - scales[idx(p)].centre) / scales[idx(p)].scale;
      }
    }
  }
  points.set(*queue, x);
  targets.set(*queue, y);
  count.set(*queue, counts);
}

void GaussianProcess::State::keep_observations() {
  if (waiting) upload({});
}

MatrixBatch<const double> GaussianProcess::State::unit_matrix(std::int64_t items) {
  if (unit_rows != room) {
    std::vector<double> unit(idx(room * room));
    for (std::int64_t i = 0; i < room; ++i) unit[idx(i * room + i)] = 1;
    units.set(*queue, unit);
    unit_rows = room;
  }
  return {units.data(), items, room, room, room, 0};
}

void GaussianProcess::State::factor_all() {
  const std::int64_t n = processes(), square = room * room;
  GpCovariance covariance;
  covariance.kind = options.covariance;
  covariance.dimension = dimension;
  covariance.points = point_sets();
  covariance.axes = axes.on_device();
  covariance.parameters = parameters_of(parameter.set(*queue, theta), n);
  covariance.matrix = MatrixBatch<double>::dense(matrix.reserve(*queue, n * square), n, room, room);
  queue->launch(covariance);
  BatchedCholesky cholesky;
  cholesky.matrix = MatrixBatch<const double>::dense(matrix.data(), n, room, room);
  cholesky.factor = MatrixBatch<double>::dense(factor.reserve(*queue, n * square), n, room, room);
  queue->launch(cholesky);
  BatchedTriangularSolve solve;
  solve.factor = MatrixBatch<const double>::dense(factor.data(), n, room, room);
  solve.right = unit_matrix(n);
  solve.solution = MatrixBatch<double>::dense(inverse.reserve(*queue, n * square), n, room, room);
  queue->launch(solve);
  PosteriorWeights weigh;
  weigh.inverse_factor = MatrixBatch<double>::dense(inverse.data(), n, room, room);
  weigh.target = MatrixBatch<const double>::dense(targets.data(), n, lists, room);
  mean.set(*queue, means);
  weigh.mean = {mean.data(), n};
  weigh.weight =
      MatrixBatch<double>::dense(weights.reserve(*queue, n * lists * room), n, lists, room);
  weigh.inverse_diagonal = {diagonal.reserve(*queue, n * room), n, room, room};
  queue->launch(weigh);
}

void GaussianProcess::condition(const std::vector<PendingPoints>& pending) {
  State& s = *state_;
  refuse_unless(!s.theta.empty(), "process.fit",
                "the process is not fitted; call fit() before condition()");
  refuse_unless(pending.empty() || static_cast<std::int64_t>(pending.size()) == s.processes(),
                "process.pending",
                "condition() needs pending points for each process, or for no process");
  for (const PendingPoints& one : pending) {
    refuse_unless(all_finite(one.points) && (one.points.empty() || !one.values.empty()),
                  "process.pending", "a pending point is not finite, or has no value");
    refuse_unless(one.values.size() == pending.front().values.size(), "process.pending",
                  "all processes must have the same number of lists of pending values");
    for (const std::vector<double>& list : one.values) {
      refuse_unless(list.size() * idx(s.dimension) == one.points.size() && all_finite(list),
                    "process.pending",
                    "a list of pending values needs one finite value for each pending point");
    }
  }
  s.conditioned = false;
  if (s.means.empty()) {  // hyper-parameters of before with observations that are new
    s.keep_observations();
    s.judge();
  }
  s.upload(pending);
  s.factor_all();
  s.conditioned = true;
}

void GaussianProcess::fit(std::int64_t restarts) {
  State& s = *state_;
  refuse_unless(s.processes() > 0, "process.observations",
                "there are no observations; call observe() before fit()");
  const std::int64_t starts = restarts > 0 ? restarts : s.options.restarts;
  s.keep_observations();
  if (s.room > s.options.fit_points) {
    GaussianProcess fewer(*s.queue, s.dimension, s.options, s.axes.categorical(),
                          s.axes.similarity());
    std::vector<Observations> some;
    for (const Observations& all : s.observations) {
      some.push_back(thinned(all, s.options.fit_points, s.dimension));
    }
    fewer.observe(some);
    fewer.remember(memory());
    fewer.state_->fit(starts);
    remember(fewer.memory());
    s.judge();
  } else {
    s.fit(starts);
  }
  condition();
}

void GaussianProcess::set_hyperparameters(const std::vector<Hyperparameters>& all) {
  State& s = *state_;
  refuse_unless(static_cast<std::int64_t>(all.size()) == s.processes(), "process.hyperparameters",
                "set_hyperparameters() needs one set of hyperparameters for each process");
  std::vector<double> theta;
  for (const Hyperparameters& h : all) {
    refuse_unless(h.lengths.size() == idx(s.layout.lengths), "process.hyperparameters",
                  "a process needs " + std::to_string(s.layout.lengths) + " length scales");
    std::vector<double> one = h.lengths;
    one.push_back(h.variance);
    one.push_back(h.noise);
    if (s.options.covariance == CovarianceKind::rational_quadratic) one.push_back(h.alpha);
    for (const double value : one) {
      refuse_unless(value > 0 && std::isfinite(value), "process.hyperparameters",
                    "hyperparameters must be finite and greater than 0");
      theta.push_back(std::log(value));
    }
  }
  s.theta = std::move(theta);
  s.keep_hyperparameters();
  s.keep_observations();
  s.judge();
  condition();
}

std::int64_t GaussianProcess::processes() const noexcept { return state_->processes(); }
std::int64_t GaussianProcess::dimension() const noexcept { return state_->dimension; }
const GaussianProcessOptions& GaussianProcess::options() const noexcept { return state_->options; }

std::vector<Hyperparameters> GaussianProcess::hyperparameters() const {
  const State& s = *state_;
  std::vector<Hyperparameters> all;
  for (std::int64_t p = 0; !s.theta.empty() && p < s.processes(); ++p) {
    const double* const t = &s.theta[idx(p * s.parameters)];
    Hyperparameters one;
    for (std::int64_t k = 0; k < s.layout.lengths; ++k) one.lengths.push_back(std::exp(t[k]));
    one.variance = std::exp(t[s.layout.variance()]);
    one.noise = std::exp(t[s.layout.noise()]);
    if (s.options.covariance == CovarianceKind::rational_quadratic) {
      one.alpha = std::exp(t[s.layout.alpha()]);
    }
    if (!s.evidence.empty()) one.evidence = s.evidence[idx(p)];
    all.push_back(std::move(one));
  }
  return all;
}

const Observations& GaussianProcess::observations(std::int64_t process) const {
  return state_->observations.at(idx(process));
}

std::vector<GaussianProcess::Memory> GaussianProcess::memory() const { return state_->last; }

void GaussianProcess::remember(std::vector<Memory> all) {
  State& s = *state_;
  const std::size_t processes = idx(s.processes());
  if (all.empty()) all.resize(processes);
  const bool fits = std::ranges::all_of(all, [&](const Memory& one) {
    return one.logarithms.empty() || one.logarithms.size() == idx(s.parameters);
  });
  refuse_unless(fits && (processes == 0 || all.size() == processes), "process.memory",
                "the remembered hyperparameters do not match the processes");
  s.last = std::move(all);
  s.theta.clear();
  for (const Memory& one : s.last) {
    s.theta.insert(s.theta.end(), one.logarithms.begin(), one.logarithms.end());
  }
  // Without a fit nothing is conditioned on some that remember and some that do not.
  if (s.theta.size() < s.last.size() * idx(s.parameters)) s.theta.clear();
  s.means.clear(), s.evidence.clear();
  s.conditioned = false;
}

GaussianProcess::Scale GaussianProcess::scale(std::int64_t process) const {
  return state_->scales.at(idx(process));
}

}  // namespace kiln
