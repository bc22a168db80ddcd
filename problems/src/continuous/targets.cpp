// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/objectives/catalog_density.hpp"
#include "kiln/options.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/problems/densities/sampling_target.hpp"

#include "density_model.hpp"
#include "spec.hpp"
#include "squared.hpp"

namespace kiln::problems {
namespace {

struct Target {
  SamplingTarget density;
  std::vector<double> precision;
  std::function<double(Point)> plain;
};

/// The number of a spec, or its standard.
double number_of(const Spec& spec, double standard, double low, double high,
                 const std::string& what) {
  const double number = spec.number.value_or(standard);
  if (number >= low && number <= high) return number;
  throw InvalidArgument("problem.parameters",
                        "density:" + spec.name + ": the " + what + " " +
                            kiln::detail::show_real(number) + " is out of range",
                        kiln::detail::show_real(low) + " .. " + kiln::detail::show_real(high));
}

Target gaussian(const Spec& spec, double min_variance, double condition) {
  const int n = *spec.dimension;
  Target target{{SamplingTargetKind::gaussian, n}, {}, {}};
  for (int i = 0; i < n; ++i) {
    const double place = n == 1 ? 1.0 : i / (n - 1.0);
    target.precision.push_back(std::pow(condition, -place) / min_variance);
  }
  target.density.reference_sd = 3 * std::sqrt(min_variance * condition);
  target.plain = [=](Point x) {
    double energy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double place = x.size() == 1 ? 1.0 : static_cast<double>(i) / (n - 1.0);
      energy += squared(x[i]) / (2 * min_variance * std::pow(condition, place));
    }
    return energy;
  };
  return target;
}

Target correlated(const Spec& spec) {
  const double a = number_of(spec, 0.9, -0.999999, 0.999999, "correlation");
  Target target{{SamplingTargetKind::correlated, *spec.dimension, a}, {}, {}};
  target.density.reference_sd = 3;
  target.plain = [a](Point x) {
    double energy = squared(x[0]) / 2;
    for (std::size_t i = 1; i < x.size(); ++i) {
      energy += squared(x[i] - a * x[i - 1]) / (2 * (1 - a * a));
    }
    return energy;
  };
  return target;
}

Target banana(const Spec& spec) {
  Target target{{SamplingTargetKind::banana, *spec.dimension}, {}, {}};
  target.density.reference_sd = 20;
  target.plain = [](Point x) {
    double energy = squared(x[0]) / 200 + squared(x[1] - 0.03 * (squared(x[0]) - 100)) / 2;
    for (std::size_t i = 2; i < x.size(); ++i) energy += squared(x[i]) / 2;
    return energy;
  };
  return target;
}

Target funnel(const Spec& spec) {
  Target target{{SamplingTargetKind::funnel, *spec.dimension}, {}, {}};
  target.density.reference_sd = 10;
  target.plain = [](Point x) {
    double energy = squared(x[0]) / 18;
    for (std::size_t i = 1; i < x.size(); ++i) {
      energy += squared(x[i]) / (2 * std::exp(x[0])) + x[0] / 2;
    }
    return energy;
  };
  return target;
}

Target two_modes(const Spec& spec) {
  Target target{{SamplingTargetKind::two_modes, *spec.dimension, 0.8, 8}, {}, {}};
  target.density.reference_mean = 4;
  target.density.reference_sd = 5;
  target.plain = [](Point x) {
    double near = 0, far = 0;
    for (const double xi : x) {
      near += squared(xi) / 2;
      far += squared(xi - 8) / 2;
    }
    const double a = std::log(0.8) - near, b = std::log(0.2) - far;
    const double larger = std::max(a, b);
    return -(larger + std::log(std::exp(a - larger) + std::exp(b - larger)));
  };
  return target;
}

Target make_target(const Spec& spec) {
  if (spec.name == "gaussian") {
    const double condition = number_of(spec, 1e4, 1, 1e12, "condition number");
    return gaussian(spec, 1, condition);
  }
  if (spec.name == "gaussian-path") {
    Target target = gaussian(spec, 0.1, 1);
    target.density.reference_sd = 1;
    return target;
  }
  if (spec.name == "correlated") return correlated(spec);
  if (spec.name == "banana") return banana(spec);
  return spec.name == "funnel" ? funnel(spec) : two_modes(spec);
}

const std::vector<SpecForm>& forms() {
  constexpr int most = 1 << 20;
  static const std::vector<SpecForm> all{
      {"gaussian", "normal with variances from 1 to the condition number NUMBER (default 10000)", 1,
       most, 100, "the condition number"},
      {"gaussian-path", "N(0, 1/10) in each coordinate; the reference density is N(0, 1)", 1, most,
       10},
      {"correlated",
       "normal, variances 1, correlation NUMBER (default 0.9) of neighbouring coordinates", 2, most,
       100, "the correlation between neighbouring coordinates"},
      {"banana", "x_1 ~ N(0, 10^2), x_2 ~ N(0.03 (x_1^2 - 100), 1)", 2, most, 2},
      {"funnel", "x_1 ~ N(0, 3^2), all other coordinates ~ N(0, e^{x_1})", 2, most, 10},
      {"two-modes", "0.8 N(0, I) + 0.2 N(8, I)", 1, most, 50},
  };
  return all;
}

}  // namespace

std::vector<NamedSentence> density_names() {
  std::vector<NamedSentence> names;
  for (const SpecForm& form : forms()) {
    names.push_back({std::string(form.name) + "-D" + (form.number.empty() ? "" : ",NUMBER"),
                     std::string(form.sentence)});
  }
  return names;
}

Problem density_by_name(const std::string& text) {
  Target target = make_target(parse_spec("density", text, forms()));
  auto source = std::make_shared<CatalogDensitySource<SamplingTarget>>(target.density, true);
  if (!target.precision.empty()) {
    source->array(&SamplingTarget::precision, std::move(target.precision));
  }
  DensityModel model;
  model.source = std::move(source);
  model.plain = std::move(target.plain);
  model.posterior.emplace();
  return to_problem(std::move(model), "density:" + text, "density");
}

}  // namespace kiln::problems
