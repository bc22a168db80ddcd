// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/problems/densities/all.hpp"

#include "densities/expression_source.hpp"

namespace kiln::test {

/// A density of the catalogue that can be evaluated on the host, and where its tests look.
template <class Density>
struct DensityInstance {
  std::string name;
  Density density;
  double spread = 1;                       ///< of random points about 0 at which it is tried
  std::shared_ptr<const void> owner = {};  ///< of what the density points to; may be empty
};
template <class Density>
using Instances = std::vector<DensityInstance<Density>>;

/// What is tried of each density. The general form is the density as it is made by default; one
/// that has no dimension then, because its data come from outside, needs a form of its own here.
template <class Density>
struct DensityInstances {
  static Instances<Density> all() { return {{"as made by default", {}}}; }
};

template <>
struct DensityInstances<TestFunction> {
  static Instances<TestFunction> all() {
    using Kind = TestFunctionKind;
    Instances<TestFunction> instances;
    const auto add = [&](Kind kind, int n) {
      TestFunction f;
      f.kind = kind;
      f.n = n;
      const std::string number = std::to_string(static_cast<int>(kind));
      instances.push_back({"kind " + number + " of " + std::to_string(n), f, 2});
    };
    for (const Kind kind : {Kind::sphere, Kind::rosenbrock, Kind::rastrigin, Kind::levy,
                            Kind::styblinski_tang, Kind::ackley, Kind::griewank}) {
      for (const int n : {1, 2, 7, 40}) add(kind, n);
    }
    add(Kind::branin, 2);
    add(Kind::hartmann3, 3);
    add(Kind::hartmann6, 6);
    return instances;
  }
};

template <>
struct DensityInstances<EightSchools> {
  static Instances<EightSchools> all() {
    EightSchools centered;
    centered.centered = true;
    return {{"not centered", {}, 2}, {"centered", centered, 2}};
  }
};

template <>
struct DensityInstances<SamplingTarget> {
  static Instances<SamplingTarget> all() {
    using Kind = SamplingTargetKind;
    const auto precision = std::make_shared<std::vector<double>>(std::vector{0.25, 1.0, 9.0, 2.0});
    Instances<SamplingTarget> instances;
    const auto add = [&](const char* name, Kind kind, double a, double b) {
      SamplingTarget target;
      target.kind = kind;
      target.n = 4;
      target.a = a;
      target.b = b;
      target.precision = precision->data();
      target.reference_mean = 0.5;
      target.reference_sd = 3;
      instances.push_back({name, target, 1.5, precision});
    };
    add("gaussian", Kind::gaussian, 0, 0);
    add("correlated", Kind::correlated, 0.8, 0);
    add("banana", Kind::banana, 0, 0);
    add("funnel", Kind::funnel, 0, 0);
    add("two modes", Kind::two_modes, 0.8, 2);
    return instances;
  }
};

template <>
struct DensityInstances<LinearRegression> {
  static Instances<LinearRegression> all() {
    struct Data {
      double factor[16] = {3, 0.5, -1, 2, 0, 2, 0.3, -1, 0, 0, 1.5, 0.7, 0, 0, 0, 2};
      double mean[3] = {0, 1, -1}, precision[3] = {0, 0.25, 4};
    };
    const auto data = std::make_shared<Data>();
    Instances<LinearRegression> instances;
    for (const ScalePriorKind prior :
         {ScalePriorKind::flat, ScalePriorKind::half_cauchy, ScalePriorKind::half_normal}) {
      LinearRegression regression;
      regression.terms = 3;
      regression.rows = 12;
      regression.factor = data->factor;
      regression.prior_mean = data->mean;
      regression.prior_precision = data->precision;
      regression.sigma_prior = {prior, 2.5};
      const std::string number = std::to_string(static_cast<int>(prior));
      instances.push_back({"prior of sigma " + number, regression, 1, data});
    }
    return instances;
  }
};

template <>
struct DensityInstances<ShrinkageLogistic> {
  static Instances<ShrinkageLogistic> all() {
    struct Data {
      double design[10] = {1, 1, 1, 1, 1, -0.3, 1.2, 0.4, -2, 0.9};
      std::int32_t label[5] = {0, 1, 1, 0, 1};
    };
    const auto data = std::make_shared<Data>();
    Instances<ShrinkageLogistic> instances;
    for (const auto& [name, kind] : {std::pair{"one scale", ShrinkageKind::hierarchical},
                                     std::pair{"sparse", ShrinkageKind::sparse}}) {
      ShrinkageLogistic regression;
      regression.kind = kind;
      regression.rows = 5;
      regression.terms = 2;
      regression.design = data->design;
      regression.label = data->label;
      instances.push_back({name, regression, 1, data});
    }
    return instances;
  }
};

template <>
struct DensityInstances<ItemResponse> {
  static Instances<ItemResponse> all() {
    // Three students, two questions; the second student was not asked the first one.
    struct Data {
      std::int32_t student[5] = {0, 0, 1, 2, 2}, question[5] = {0, 1, 1, 0, 1};
      std::int32_t correct[5] = {1, 0, 1, 1, 1}, student_begin[4] = {0, 2, 3, 5};
      std::int32_t question_begin[3] = {0, 2, 5}, of_question[5] = {0, 3, 1, 2, 4};
    };
    const auto data = std::make_shared<Data>();
    ItemResponse response;
    response.students = 3;
    response.questions = 2;
    response.answers = 5;
    response.student = data->student;
    response.question = data->question;
    response.correct = data->correct;
    response.student_begin = data->student_begin;
    response.question_begin = data->question_begin;
    response.of_question = data->of_question;
    return {{"three students", response, 1, data}};
  }
};

template <>
struct DensityInstances<StochasticVolatility> {
  static Instances<StochasticVolatility> all() {
    const auto y = std::make_shared<std::vector<double>>(
        std::vector{0.3, -1.2, 0.8, 0.1, 2.5, -0.4, -0.9, 0.2, 1.1});
    StochasticVolatility volatility;
    volatility.length = 9;
    volatility.y = y->data();
    return {{"nine returns", volatility, 1, y}};
  }
};

template <>
struct DensityInstances<GaussianProcessRegression> {
  static Instances<GaussianProcessRegression> all() {
    struct Data {
      double x[5] = {-3, -1.2, 0, 1.5, 3}, values[5] = {0.5, -0.7, 0.1, 1.3, 0.2};
      double counts[5] = {0, 2, 1, 5, 3};
    };
    const auto data = std::make_shared<Data>();
    GaussianProcessRegression normal, poisson;
    normal.points = poisson.points = 5;
    normal.x = poisson.x = data->x;
    normal.y = data->values;
    poisson.kind = ProcessKind::poisson;
    poisson.y = data->counts;
    // Long ranges make the covariance singular, so that energies are rough.
    return {{"normal", normal, 0.5, data}, {"poisson", poisson, 0.5, data}};
  }
};

template <>
struct DensityInstances<LotkaVolterra> {
  static Instances<LotkaVolterra> all() {
    struct Data {
      double time[4] = {0, 0.5, 1.2, 2};
      double log_y[8] = {0.1, -0.2, 0.3, 0.1, -0.4, 0.6, -0.1, 0.2};
    };
    const auto data = std::make_shared<Data>();
    LotkaVolterra predators;
    predators.times = 3;
    predators.time = data->time;
    predators.log_y = data->log_y;
    return {{"four times", predators, 0.3, data}};
  }
};

template <>
struct DensityInstances<Expression> {
  static Instances<Expression> all() {
    using problems::ExpressionVariable;
    Instances<Expression> instances;
    const auto add = [&](const char* formula, const std::vector<ExpressionVariable>& variables) {
      const auto source = expression_source(formula, variables);
      instances.push_back({formula, source->on_host(), 0.7, source});
    };
    const ExpressionVariable x{"x", {5}}, y{"y", {}}, m{"m", {3, 5}};
    add("y^2", {y});
    add("sum(i=1..4, 100*(x[i+1]-x[i]^2)^2 + (1-x[i])^2)", {x});
    add("sum(i=1..3, (sum(j=1..5, m[i,j]*x[j]) - i)^2) + exp(-y)", {x, y, m});
    add("prod(i=1..5, 1 + x[i]) * tanh(y)", {x, y});
    add("sum(i=1..5, j=i..5, sin(i*x[i]) * cos(x[j]) / (2 + y^2))", {x, y});
    add("max(y, x[1], 0.1) - min(x[2], y^3) + atan2(x[3], 2+y) + abs(x[4]) ^ 2.5 + x[5]", {x, y});
    add("log1p(y^2) + sqrt(1+x[1]^2) + sinh(x[2]) + cosh(x[3]) + atan(x[4]) + tan(x[5]/3)", {x, y});
    add("asin(y/9) + acos(x[1]/9) + expm1(x[2]) + log(9+x[3]) + (3+x[4])^(x[5]/2)", {x, y});
    return instances;
  }
};

template <>
struct DensityInstances<GeneralizedLinear> {
  static Instances<GeneralizedLinear> all() {
    // Three columns of eight, five rows and three of zeros.
    struct Data {
      double x[64] = {}, y[8] = {}, prior_precision[3] = {1, 0.25, 4};
    };
    Instances<GeneralizedLinear> instances;
    for (const GlmLink link : {GlmLink::logistic, GlmLink::identity, GlmLink::log}) {
      const auto data = std::make_shared<Data>();
      for (int row = 0; row < 5; ++row) {
        for (int column = 0; column < 3; ++column) {
          data->x[8 * row + column] = 0.25 * ((7 * row + 5 * column) % 9 - 4);
        }
        data->y[row] = row % 2;
      }
      GeneralizedLinear model;
      model.link = link;
      model.columns = 3;
      model.rows = 5;
      model.precision = 4;
      model.x = data->x;
      model.y = data->y;
      model.prior_precision = data->prior_precision;
      instances.push_back({"link " + std::to_string(static_cast<int>(link)), model, 1, data});
    }
    return instances;
  }
};

}  // namespace kiln::test
