// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The models of Bayesian optimisation: what they are shown, how they are fitted, what is pending.
#include "surrogate_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/device/normal.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/fronts/indicators.hpp"
#include "kiln/fronts/nondominated_cells.hpp"

namespace kiln {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

CovarianceKind covariance_of(const std::string& name) {
  if (name == "matern32") return CovarianceKind::matern32;
  if (name == "matern12") return CovarianceKind::matern12;
  if (name == "rbf") return CovarianceKind::squared_exponential;
  if (name == "rational-quadratic") return CovarianceKind::rational_quadratic;
  return CovarianceKind::matern52;
}

GaussianProcessOptions process_options(const BayesianOptimizationOptions& o, std::int64_t dimension,
                                       bool noisy, bool fitted_mean) {
  GaussianProcessOptions options = GaussianProcessOptions::preset(o.priors, dimension);
  options.covariance = covariance_of(o.covariance);
  options.axis_lengths = o.lengths == "axis";
  options.fitted_mean = fitted_mean;
  const bool exact = o.noise == "none" || (o.noise == "automatic" && !noisy);
  if (exact) options.noise = HyperRange::fixed(1e-10);
  return options;
}

/// Constraints keep their sign and lose their size where that is large: the model is to know where
/// they are 0.
double shrunk(double g, double scale) { return std::copysign(std::log1p(std::abs(g) / scale), g); }

double typical_size(const std::vector<double>& values) {
  std::vector<double> sizes;
  for (const double g : values) sizes.push_back(std::abs(g));
  std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2));
  const double median = sizes[sizes.size() / 2];
  return median > 0 ? median : 1.0;
}

/// The share of the variance of the targets that their predictions by the others explain.
double fit_of(const GaussianProcess& process, std::int64_t index) {
  const Predictions left_out = process.leave_one_out(index);
  const std::vector<double>& values = process.observations(index).values;
  const GaussianProcess::Scale scale = process.scale(index);
  double missed = 0, all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    missed += (values[i] - left_out.mean[i]) * (values[i] - left_out.mean[i]);
    all += (values[i] - scale.centre) * (values[i] - scale.centre);
  }
  return all > 0 ? 1 - missed / all : 0.0;
}

}  // namespace

SurrogateSet::SurrogateSet(Queue& queue, const Encoding& encoding, Designs& designs,
                           const BayesianOptimizationOptions& options, int objectives,
                           int constraints, bool noisy)
    : queue_(queue),
      encoding_(encoding),
      designs_(designs),
      options_(options),
      objectives_(objectives),
      constraints_(constraints),
      noisy_(noisy) {}

std::int64_t SurrogateSet::lists() const {
  if (options_.acquisition != "qlogei") return 1;
  return options_.fantasies > 0 ? options_.fantasies : 32;
}

void SurrogateSet::make_process() {
  if (process_) return;
  const std::int64_t d = encoding_.dimension();
  // In a space of few points much of it is soon known, and a mean by least squares takes the
  // level of what was searched for that of the rest; variances know nothing of its error.
  const bool fitted_mean = encoding_.any_continuous();
  process_.emplace(queue_, d, process_options(options_, d, noisy_, fitted_mean),
                   encoding_.categorical(), encoding_.similarity());
}

void SurrogateSet::remember_fits(const std::vector<Study>& studies) {
  std::vector<GaussianProcess::Memory> all;
  for (const Arm& arm : arms_) {
    std::vector<GaussianProcess::Memory> own = studies[arm.study].memories[arm.region];
    own.resize(static_cast<std::size_t>(outputs()));
    all.insert(all.end(), own.begin(), own.end());
  }
  process_->remember(std::move(all));
}

void SurrogateSet::keep_fits(std::vector<Study>& studies) const {
  const std::vector<GaussianProcess::Memory> all = process_->memory();
  auto next = all.begin();
  for (const Arm& arm : arms_) {
    studies[arm.study].memories[arm.region].assign(next, next + outputs());
    next += outputs();
  }
}

/// Failed evaluations count as if they were as bad as the worst.
Observations SurrogateSet::observations_of(const Study& study, const Arm& arm, int output) const {
  const Region& region = study.regions[arm.region];
  const bool objective = output < objectives_;
  std::vector<double> good;
  for (const Trial& trial : region.trials) {
    if (!trial.good()) continue;
    good.push_back(objective ? trial.objectives()[static_cast<std::size_t>(output)]
                             : trial.constraints[static_cast<std::size_t>(output - objectives_)]);
  }
  const TargetTransform transform(objective ? options_.transform : "none", good);
  const double scale = objective ? 1 : typical_size(good);
  const double worst = *std::ranges::max_element(good);
  Observations seen;
  std::size_t next = 0;
  for (const Trial& trial : region.trials) {
    const double value = trial.good() ? good[next++] : worst;
    seen.points.insert(seen.points.end(), trial.point.begin(), trial.point.end());
    seen.values.push_back(objective ? transform(value) : shrunk(value, scale));
  }
  return seen;
}

void SurrogateSet::fit(std::vector<Study>& studies, const std::vector<std::size_t>& wanted) {
  arms_.clear();
  for (const std::size_t s : wanted) {
    ++studies[s].steps;
    for (std::size_t r = 0; r < studies[s].regions.size(); ++r) {
      if (studies[s].regions[r].good_trials() == 0) continue;
      Arm arm;
      arm.study = s, arm.region = r, arm.step = studies[s].steps;
      arms_.push_back(std::move(arm));
    }
  }
  if (arms_.empty()) return;
  std::vector<Observations> all;
  std::size_t most = 0;
  for (const Arm& arm : arms_) {
    for (int o = 0; o < outputs(); ++o) {
      all.push_back(observations_of(studies[arm.study], arm, o));
      most = std::max(most, all.back().values.size());
    }
  }
  make_process();
  process_->observe(all);
  remember_fits(studies);
  process_->fit(options_.restarts > 0 ? options_.restarts : most > 200 ? 2 : 8);
  keep_fits(studies);
  if (objectives_ > 1) {
    find_fronts(studies);
  } else {
    find_best(studies);
  }
  note_models(studies);
  std::size_t waiting = 0;
  for (Arm& arm : arms_) {
    arm.pending.values.resize(static_cast<std::size_t>(lists()));
    arm.others.assign(static_cast<std::size_t>(outputs() - 1), arm.pending);
    waiting = std::max(waiting, studies[arm.study].pending.size());
  }
  // What is pending already, one point of each arm after another: each is drawn from a model that
  // knows those before.
  for (std::size_t i = 0; i < waiting; ++i) {
    std::vector<std::optional<Point>> points;
    for (const Arm& arm : arms_) {
      const std::vector<Trial>& pending = studies[arm.study].pending;
      const bool there = i < pending.size() && pending[i].region == arm.region;
      points.push_back(there ? std::optional<Point>(pending[i].point) : std::nullopt);
    }
    append(points);
  }
}

/// What is to be improved is what the model thinks of the best point, not the luckiest noise.
void SurrogateSet::find_best(const std::vector<Study>& studies) {
  // Each arm asks at as many points: those of its feasible trials, and the first of all where that
  // is not enough.
  const auto d = static_cast<std::size_t>(encoding_.dimension());
  std::vector<std::size_t> feasible;
  for (const Arm& arm : arms_) {
    feasible.push_back(static_cast<std::size_t>(
        std::ranges::count_if(studies[arm.study].regions[arm.region].trials, &Trial::feasible)));
  }
  const std::size_t most = std::ranges::max(feasible);
  for (Arm& arm : arms_) arm.best = not_a_number;
  if (most == 0) return;
  std::vector<double> points(arms_.size() * most * d);
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    const std::vector<Trial>& trials = studies[arms_[a].study].regions[arms_[a].region].trials;
    double* to = &points[a * most * d];
    for (const Trial& trial : trials) {
      if (trial.feasible()) to = std::ranges::copy(trial.point, to).out;
    }
    while (to < &points[a * most * d] + most * d) {
      to = std::ranges::copy(trials.front().point, to).out;
    }
  }
  const std::vector<double> mean = means_at(points, most);
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    if (feasible[a] == 0) continue;
    const auto first = mean.begin() + static_cast<std::ptrdiff_t>(a * most);
    arms_[a].best = *std::min_element(first, first + static_cast<std::ptrdiff_t>(feasible[a]));
  }
}

/// Means of the objective of each arm at `each` points of its own, in units of its process.
std::vector<double> SurrogateSet::means_at(const std::vector<double>& points, std::size_t each) {
  const std::int64_t d = encoding_.dimension();
  const auto items = static_cast<std::int64_t>(arms_.size() * each);
  AcquisitionGradient ask = process_->acquisition(outputs());
  ask.items_per_study = static_cast<std::int64_t>(each);
  const DeviceArray<double> at(queue_, points);
  const std::int64_t lists_now = ask.lists();
  DeviceArray<double> means(queue_, items * outputs() * lists_now);
  ask.at = {at.data(), items, d, d};
  ask.predicted = MatrixBatch<double>::dense(means.data(), items, outputs(), lists_now);
  queue_.launch(ask);
  const std::vector<double> all = means.download();
  std::vector<double> first;
  const auto step = static_cast<std::size_t>(outputs() * lists_now);
  for (std::size_t i = 0; i < all.size(); i += step) first.push_back(all[i]);
  return first;
}

void SurrogateSet::find_fronts(const std::vector<Study>& studies) {
  for (Arm& arm : arms_) {
    for (const Trial& trial : studies[arm.study].regions[arm.region].trials) {
      if (trial.feasible()) arm.front.push_back(trial.objectives());
    }
  }
}

/// Where a point would add to the volume of what was evaluated and what is expected of pending
/// points, in units of the processes.
void SurrogateSet::set_cells(AcquisitionGradient& kernel) {
  const auto m = static_cast<std::size_t>(objectives_);
  std::vector<Cells> all;
  std::vector<std::int32_t> counts;
  std::size_t most = 0;
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    const Arm& arm = arms_[a];
    Points points = arm.front;
    for (std::size_t i = 0; i < arm.pending.values.front().size(); ++i) {
      points.push_back({arm.pending.values.front()[i]});
      for (std::size_t o = 1; o < m; ++o) {
        points.back().push_back(arm.others[o - 1].values.front()[i]);
      }
    }
    std::vector<double> reference = reference_;
    for (std::size_t o = 0; o < m; ++o) {
      const auto process = static_cast<std::int64_t>(a) * outputs() + static_cast<std::int64_t>(o);
      const GaussianProcess::Scale scale = process_->scale(process);
      for (std::vector<double>& point : points) {
        point[o] = (point[o] - scale.centre) / scale.scale;
      }
      reference[o] = (reference[o] - scale.centre) / scale.scale;
    }
    all.push_back(nondominated_cells(points, reference));
    counts.push_back(static_cast<std::int32_t>(all.back().lower.size()));
    most = std::max(most, all.back().lower.size());
  }
  std::vector<double> lower(arms_.size() * most * m), upper(lower.size());
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    for (std::size_t c = 0; c < all[a].lower.size(); ++c) {
      std::ranges::copy(all[a].lower[c], &lower[(a * most + c) * m]);
      std::ranges::copy(all[a].upper[c], &upper[(a * most + c) * m]);
    }
  }
  cell_lower_ = DeviceArray<double>(queue_, lower);
  cell_upper_ = DeviceArray<double>(queue_, upper);
  cell_counts_ = DeviceArray<std::int32_t>(queue_, counts);
  const auto items = static_cast<std::int64_t>(arms_.size());
  const auto rows = static_cast<std::int64_t>(most);
  kernel.cell_lower =
      MatrixBatch<const double>::dense(cell_lower_.data(), items, rows, objectives_);
  kernel.cell_upper =
      MatrixBatch<const double>::dense(cell_upper_.data(), items, rows, objectives_);
  kernel.cell_counts = cell_counts_.view();
}

void SurrogateSet::note_models(std::vector<Study>& studies) const {
  const std::vector<Hyperparameters> all = process_->hyperparameters();
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    const std::size_t p = a * static_cast<std::size_t>(outputs());
    StudyModel& model = studies[arms_[a].study].models[arms_[a].region];
    model.lengths = all[p].lengths;
    model.variance = all[p].variance;
    model.noise = all[p].noise;
    model.spread = process_->scale(static_cast<std::int64_t>(p)).scale;
    model.evidence = all[p].evidence;
    if (arms_[a].study == 0) model.fit = fit_of(*process_, static_cast<std::int64_t>(p));
  }
}

void SurrogateSet::condition() {
  std::vector<PendingPoints> all;
  for (const Arm& arm : arms_) {
    all.push_back(arm.pending);
    all.insert(all.end(), arm.others.begin(), arm.others.end());
  }
  process_->condition(all);
}

AcquisitionGradient SurrogateSet::kernel(std::int64_t items_per_arm) {
  AcquisitionGradient kernel = process_->acquisition(outputs());
  kernel.items_per_study = items_per_arm;
  kernel.confidence = options_.confidence;
  const std::string& name = options_.acquisition;
  kernel.kind = name == "ei"    ? AcquisitionKind::expected_improvement
                : name == "pi"  ? AcquisitionKind::log_probability_of_improvement
                : name == "ucb" ? AcquisitionKind::confidence_bound
                                : AcquisitionKind::log_expected_improvement;
  std::vector<double> best, bound;
  const std::int64_t lists_now = kernel.lists();
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    for (int o = 0; o < outputs(); ++o) {
      const auto process = static_cast<std::int64_t>(a) * outputs() + o;
      const GaussianProcess::Scale scale = process_->scale(process);
      bound.push_back(-scale.centre / scale.scale);
      for (std::int64_t list = 0; o == 0 && list < lists_now; ++list) {
        double least = arms_[a].best;
        const auto& lists_of = arms_[a].pending.values;
        if (lists_now > 1 && !lists_of.empty()) {
          for (const double y : lists_of[static_cast<std::size_t>(list)]) {
            least = std::min(least, (y - scale.centre) / scale.scale);
          }
        }
        // Without a margin the probability of an improvement is greatest beside the best point.
        best.push_back(name == "pi" ? least - 0.01 : least);
      }
    }
  }
  best_ = DeviceArray<double>(queue_, best);
  bound_ = DeviceArray<double>(queue_, bound);
  kernel.best = {best_.data(), static_cast<std::int64_t>(arms_.size()), lists_now, lists_now};
  kernel.bound = {bound_.data(), bound_.size()};
  if (objectives_ > 1) set_cells(kernel);
  return kernel;
}

void SurrogateSet::append(const std::vector<std::optional<Point>>& points) {
  const auto count = static_cast<std::int64_t>(arms_.size());
  const std::int64_t d = encoding_.dimension();
  std::vector<double> at;
  bool any = false;
  for (const std::optional<Point>& point : points) {
    any |= point.has_value();
    for (std::int64_t k = 0; k < d; ++k) {
      at.push_back(point ? (*point)[static_cast<std::size_t>(k)] : 0.0);
    }
  }
  if (!any) return;
  AcquisitionGradient ask = process_->acquisition(outputs());
  const std::int64_t lists_now = ask.lists();
  const DeviceArray<double> places(queue_, at);
  DeviceArray<double> means(queue_, count * outputs() * lists_now),
      variances(queue_, count * outputs());
  ask.at = {places.data(), count, d, d};
  ask.predicted = MatrixBatch<double>::dense(means.data(), count, outputs(), lists_now);
  ask.variance = {variances.data(), count, outputs(), outputs()};
  queue_.launch(ask);
  const std::vector<double> mean = means.download(), variance = variances.download();
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    if (!points[a]) continue;
    Arm& arm = arms_[a];
    for (int o = 0; o < outputs(); ++o) {
      PendingPoints& pending = o == 0 ? arm.pending : arm.others[static_cast<std::size_t>(o - 1)];
      const std::size_t process =
          a * static_cast<std::size_t>(outputs()) + static_cast<std::size_t>(o);
      const GaussianProcess::Scale scale = process_->scale(static_cast<std::int64_t>(process));
      const double sd = std::sqrt(variance[process]);
      const DrawName name{designs_.key(arm.study), arm.step, static_cast<std::uint32_t>(arm.region),
                          RngDomain::choose, static_cast<std::uint8_t>(16 + o)};
      const std::size_t before = pending.points.size();
      pending.points.insert(pending.points.end(), points[a]->begin(), points[a]->end());
      for (std::size_t list = 0; list < pending.values.size(); ++list) {
        double value =
            mean[process * static_cast<std::size_t>(lists_now) + (lists_now > 1 ? list : 0)];
        if (o == 0 && lists() > 1) {
          const auto index = static_cast<std::uint32_t>(before * 1024 + list);
          value += sd * normal_quantile(open_unit(draw_word(name, index)));
        }
        pending.values[list].push_back(scale.centre + scale.scale * value);
      }
    }
  }
  condition();
}

}  // namespace kiln
