// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/features.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/device/exact_math.hpp"
#include "kiln/forecast/forecast_model.hpp"

#include "forecast/clipped.hpp"

namespace kiln {
namespace {

using Features = std::vector<std::pair<const char*, double>>;

double log_ratio(double a, double b) {
  return a > 0 && b > 0 ? exact::log(a / b) : exact::not_a_number();
}

// Fraction of the epochs after a work that lowered the best energy.
double improving_share(const RunCurve& curve, double work) {
  double improved = 0, all = 0;
  const std::vector<CurvePoint>& points = curve.points();
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].work <= work) continue;
    all += 1;
    improved += points[i].best < points[i - 1].best ? 1 : 0;
  }
  return all > 0 ? improved / all : 0;
}

double work_of_last_improvement(const RunCurve& curve) {
  const std::vector<CurvePoint>& points = curve.points();
  std::size_t i = points.size() - 1;
  while (points[i - 1].best == points[i].best) --i;  // a curve with a forecast has an improvement
  return points[i].work;
}

void add_gains(const RunCurve& curve, Features& features) {
  const double work = curve.work(), unit = curve.fall();
  const auto gained = [&](double share) {
    return (curve.at(work * (1 - share)).best - curve.best()) / unit;
  };
  features.insert(features.end(),
                  {{"gain", curve.gain() / unit},
                   {"gain_3_4", gained(0.75)},
                   {"gain_1_2", gained(0.5)},
                   {"gain_1_4", gained(0.25)},
                   {"gain_1_8", gained(0.125)},
                   {"gain_1_16", gained(0.0625)},
                   {"recent_gain", recent_gain(curve) / unit},
                   {"log_recent_gain", exact::log(recent_gain(curve) / unit + 1e-6) / 10},
                   {"improving", improving_share(curve, 0)},
                   {"improving_1_2", improving_share(curve, work / 2)},
                   {"idle", 1 - work_of_last_improvement(curve) / work}});
}

// Mean and standard deviation of the means of the epochs after a work. With one replica they are
// the energies of the epochs: the best of many noisy energies falls as they scatter.
struct RecentMeans {
  double average = 0, scatter = 0;
};

RecentMeans recent_means(const RunCurve& curve, double work) {
  double count = 0, sum = 0, squares = 0;
  for (const CurvePoint& point : curve.points()) {
    if (point.work <= work || std::isnan(point.mean)) continue;
    const double above = (point.mean - curve.best()) / curve.fall();
    count += 1;
    sum += above;
    squares += above * above;
  }
  const double average = sum / count;
  return {average, exact::sqrt(std::max(0.0, squares / count - average * average))};
}

// Where replicas stand, and where their mean would stand if it went on falling as it does.
void add_replicas(const RunCurve& curve, double work, Features& features) {
  const double now = curve.work(), unit = curve.fall();
  const CurvePoint &last = curve.points().back(), &half = curve.at(now / 2),
                   &late = curve.at(0.75 * now), &first = curve.points().front();
  const double above = (last.mean - last.best) / unit, fell = (late.mean - last.mean) / unit;
  const RecentMeans recent = recent_means(curve, 0.75 * now);
  const double ahead = fell * (work - now) / std::max(now - late.work, 1e-9 * now);
  features.insert(features.end(), {{"mean_above", above},
                                   {"mean_fell_1_2", (half.mean - last.mean) / unit},
                                   {"mean_fell_1_4", fell},
                                   {"mean_recent", recent.average},
                                   {"mean_scatter", recent.scatter},
                                   {"mean_passes", std::clamp(ahead - above, 0.0, 3.0)},
                                   {"deviation", last.deviation / unit},
                                   {"deviation_fell", (half.deviation - last.deviation) / unit},
                                   {"deviations_above",
                                    std::min((last.mean - last.best) / last.deviation, 20.0) / 10},
                                   {"accepted", last.accepted},
                                   {"accepted_fell", half.accepted - last.accepted},
                                   {"log_accepted", exact::log(last.accepted + 1e-4) / 10},
                                   {"cooled", log_ratio(last.beta, first.beta) / 10},
                                   {"cooled_1_2", log_ratio(last.beta, half.beta) / 10},
                                   {"cold", exact::log(1 + last.beta * last.deviation) / 10}});
}

// Gains that other models expect: this makes a linear model of features a combination of models.
void add_models(const RunCurve& curve, double work, Features& features) {
  const auto expected = [&](const ForecastModel& model) {
    return std::min((curve.best() - model.predict(curve, work)->mean) / curve.fall(), 3.0);
  };
  features.emplace_back("power_law", expected(PowerLawModel()));
  features.emplace_back("ar", expected(AutoregressionModel()));
  features.emplace_back("kalman", expected(KalmanModel()));
}

Features named_features(const RunCurve& curve, double work) {
  Features features{{"log_ratio", exact::log(work / curve.work())},
                    {"done", curve.work() / work},
                    {"short", 1 / static_cast<double>(curve.points().size())}};
  add_gains(curve, features);
  add_replicas(curve, work, features);
  add_models(curve, work, features);
  return features;
}

}  // namespace

const std::vector<const char*>& feature_names() {
  static const std::vector<const char*> names = [] {
    RunCurve curve;
    for (int i = 1; i <= 8; ++i) curve.add({static_cast<double>(i), -static_cast<double>(i)});
    std::vector<const char*> all;
    for (const auto& [name, value] : named_features(curve, 16)) all.push_back(name);
    return all;
  }();
  return names;
}

FeatureVector features_of(const RunCurve& curve, double work) {
  FeatureVector vector{};
  std::size_t i = 0;
  for (const auto& [name, value] : named_features(curve, work)) {
    vector[i++] = std::isfinite(value) ? value : 0.0;
  }
  return vector;
}

}  // namespace kiln
