// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <numbers>

#include "kiln/catalog_density.hpp"
#include "kiln/densities/test_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/problems/continuous.hpp"

#include "density_model.hpp"
#include "spec.hpp"

namespace kiln {
namespace problems {
namespace {

using std::numbers::e;
using std::numbers::pi;

double squared(double x) { return x * x; }

// The formulas as they stand in the literature.

double sphere(Point x) {
  double sum = 0;
  for (const double xi : x) sum += squared(xi);
  return sum;
}

double rosenbrock(Point x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    sum += 100 * squared(x[i + 1] - squared(x[i])) + squared(1 - x[i]);
  }
  return sum;
}

double rastrigin(Point x) {
  double sum = 10 * static_cast<double>(x.size());
  for (const double xi : x) sum += squared(xi) - 10 * std::cos(2 * pi * xi);
  return sum;
}

double levy(Point x) {
  const auto w = [&](std::size_t i) { return 1 + (x[i] - 1) / 4; };
  const std::size_t last = x.size() - 1;
  double sum = squared(std::sin(pi * w(0)));
  for (std::size_t i = 0; i < last; ++i) {
    sum += squared(w(i) - 1) * (1 + 10 * squared(std::sin(pi * w(i) + 1)));
  }
  return sum + squared(w(last) - 1) * (1 + squared(std::sin(2 * pi * w(last))));
}

double styblinski_tang(Point x) {
  double sum = 0;
  for (const double xi : x) sum += std::pow(xi, 4) - 16 * squared(xi) + 5 * xi;
  return sum / 2;
}

double ackley(Point x) {
  const auto n = static_cast<double>(x.size());
  double cosines = 0;
  for (const double xi : x) cosines += std::cos(2 * pi * xi);
  return -20 * std::exp(-0.2 * std::sqrt(sphere(x) / n)) - std::exp(cosines / n) + 20 + e;
}

double griewank(Point x) {
  double product = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    product *= std::cos(x[i] / std::sqrt(static_cast<double>(i + 1)));
  }
  return 1 + sphere(x) / 4000 - product;
}

double branin(Point x) {
  return squared(x[1] - 5.1 / (4 * pi * pi) * squared(x[0]) + 5 / pi * x[0] - 6) +
         10 * (1 - 1 / (8 * pi)) * std::cos(x[0]) + 10;
}

constexpr std::array<double, 4> hartmann_weight{1.0, 1.2, 3.0, 3.2};

// A and 10^4 P of the formula.
template <std::size_t n>
double hartmann(Point x, const std::array<std::array<double, n>, 4>& a,
                const std::array<std::array<double, n>, 4>& p) {
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    double exponent = 0;
    for (std::size_t i = 0; i < n; ++i) exponent += a[k][i] * squared(x[i] - 1e-4 * p[k][i]);
    sum -= hartmann_weight[k] * std::exp(-exponent);
  }
  return sum;
}

double hartmann3(Point x) {
  return hartmann<3>(
      x, {{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}}},
      {{{3689, 1170, 2673}, {4699, 4387, 7470}, {1091, 8732, 5547}, {381.5, 5743, 8828}}});
}

double hartmann6(Point x) {
  return hartmann<6>(x,
                     {{{10, 3, 17, 3.5, 1.7, 8},
                       {0.05, 10, 17, 0.1, 8, 14},
                       {3, 3.5, 1.7, 10, 17, 8},
                       {17, 8, 0.05, 10, 0.1, 14}}},
                     {{{1312, 1696, 5569, 124, 8283, 5886},
                       {2329, 4135, 8307, 3736, 1004, 9991},
                       {2348, 1451, 3522, 2883, 3047, 6650},
                       {4047, 8828, 8732, 5743, 1091, 381}}});
}

struct FunctionInfo {
  TestFunctionKind kind;
  SpecForm form;
  double lower, upper;
  double best;  ///< per dimension for styblinski-tang
  double (*plain)(Point);
};

const std::vector<FunctionInfo>& infos() {
  constexpr int most = 1 << 20;
  using enum TestFunctionKind;
  static const std::vector<FunctionInfo> all{
      {ackley, {"ackley", "a cone with waves", 1, most}, -32.768, 32.768, 0, problems::ackley},
      {branin,
       {"branin", "three equal optima", 2, 2, 2},
       -5,
       15,
       0.39788735772973816,
       problems::branin},
      {griewank, {"griewank", "a bowl with waves", 1, most}, -600, 600, 0, problems::griewank},
      {hartmann3,
       {"hartmann3", "four wells", 3, 3, 3},
       0,
       1,
       -3.8627821478207557,
       problems::hartmann3},
      {hartmann6,
       {"hartmann6", "four wells", 6, 6, 6},
       0,
       1,
       -3.3223680114155147,
       problems::hartmann6},
      {levy, {"levy", "steep waves", 1, most}, -10, 10, 0, problems::levy},
      {rastrigin, {"rastrigin", "a grid of optima", 1, most}, -5.12, 5.12, 0, problems::rastrigin},
      {rosenbrock, {"rosenbrock", "a bent valley", 2, most}, -5, 10, 0, problems::rosenbrock},
      {sphere, {"sphere", "a sum of squares", 1, most}, -5.12, 5.12, 0, problems::sphere},
      {styblinski_tang,
       {"styblinski-tang", "2^D optima of different depth", 1, most},
       -5,
       5,
       -39.166165703771412,
       problems::styblinski_tang},
  };
  return all;
}

DensityModel model_of(const FunctionInfo& info, int n) {
  if (n < info.form.least || n > info.form.most) {
    throw InvalidArgument(
        "problem.size",
        "the function " + std::string(info.form.name) + " cannot have " + std::to_string(n) +
            " dimensions",
        std::to_string(info.form.least) + " .. " + std::to_string(info.form.most));
  }
  DensityModel model;
  model.source =
      std::make_shared<CatalogDensitySource<TestFunction>>(TestFunction{info.kind, n}, false);
  model.lower = info.lower;
  model.upper = info.upper;
  model.plain = info.plain;
  model.best_known = info.kind == TestFunctionKind::styblinski_tang ? n * info.best : info.best;
  model.best_known_source = "the optimum of the formula";
  return model;
}

}  // namespace

std::vector<NamedSentence> function_names() {
  std::vector<NamedSentence> names;
  for (const FunctionInfo& info : infos()) {
    const bool open = info.form.least != info.form.most;
    names.push_back(
        {std::string(info.form.name) + (open ? "-D" : ""), std::string(info.form.sentence)});
  }
  return names;
}

Problem function_by_name(const std::string& text) {
  std::vector<SpecForm> forms;
  for (const FunctionInfo& info : infos()) forms.push_back(info.form);
  const Spec spec = parse_spec("function", text, forms);
  for (const FunctionInfo& info : infos()) {
    if (info.form.name != spec.name) continue;
    return to_problem(model_of(info, *spec.dimension), "function:" + text, "function");
  }
  throw InvalidArgument("problem.unknown", "unknown function '" + spec.name + "'");
}

}  // namespace problems

Problem make_test_function(TestFunctionKind kind, int dimension) {
  for (const auto& info : problems::infos()) {
    if (info.kind != kind) continue;
    const std::string name(info.form.name);
    const bool open = info.form.least != info.form.most;
    return problems::to_problem(problems::model_of(info, dimension),
                                "function:" + name + (open ? "-" + std::to_string(dimension) : ""),
                                "function");
  }
  throw InvalidArgument("problem.unknown", "there is no such test function");
}

}  // namespace kiln
