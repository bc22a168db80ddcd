// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/objectives/catalog_density.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/problems/densities/test_function.hpp"

#include "density_model.hpp"
#include "spec.hpp"
#include "squared.hpp"

namespace kiln {
namespace problems {
namespace {

using std::numbers::e;
using std::numbers::pi;

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

double branin_of(double x, double y) {
  return squared(y - 5.1 / (4 * pi * pi) * squared(x) + 5 / pi * x - 6) +
         10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}

double branin(Point x) { return branin_of(x[0], x[1]); }

double branin_hidden(Point x) { return branin_of(x[x.size() / 2], x[x.size() - 1]); }

double michalewicz(Point x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum -= std::sin(x[i]) * std::pow(std::sin(static_cast<double>(i + 1) * squared(x[i]) / pi), 20);
  }
  return sum;
}

double six_hump_camel(Point x) {
  return (4 - 2.1 * squared(x[0]) + std::pow(x[0], 4) / 3) * squared(x[0]) + x[0] * x[1] +
         (-4 + 4 * squared(x[1])) * squared(x[1]);
}

double eggholder(Point x) {
  return -(x[1] + 47) * std::sin(std::sqrt(std::abs(x[1] + x[0] / 2 + 47))) -
         x[0] * std::sin(std::sqrt(std::abs(x[0] - (x[1] + 47))));
}

double holder_table(Point x) {
  const double radius = std::hypot(x[0], x[1]);
  return -std::abs(std::sin(x[0]) * std::cos(x[1]) * std::exp(std::abs(1 - radius / pi)));
}

double drop_wave(Point x) {
  const double square = squared(x[0]) + squared(x[1]);
  return -(1 + std::cos(12 * std::sqrt(square))) / (0.5 * square + 2);
}

// The greatest value of sin(x) sin(i x^2 / pi)^20 on 0 .. pi, i from 1: the crests of the narrow
// factor lie where i x^2 / pi is half an odd multiple of pi, and those nearest to pi/2 count.
double michalewicz_crest(int i) {
  const auto value = [&](double x) { return std::sin(x) * std::pow(std::sin(i * x * x / pi), 20); };
  double best = 0;
  for (int k = std::max(0, i / 4 - 1); k <= std::min(i - 1, i / 4 + 1); ++k) {
    double low = pi * std::sqrt(k / static_cast<double>(i));
    double high = pi * std::sqrt((k + 1) / static_cast<double>(i));
    for (int round = 0; round < 100; ++round) {  // between two zeros there is one crest
      const double third = (high - low) / 3;
      if (value(low + third) < value(high - third)) {
        low += third;
      } else {
        high -= third;
      }
    }
    best = std::max(best, value((low + high) / 2));
  }
  return best;
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
  std::vector<Bounds> box;  ///< of every variable; a second one is that of the last variable
  double best;              ///< per dimension for styblinski-tang; of michalewicz computed
  double (*plain)(Point);
  double place = 0;  ///< of the optimum in every dimension, where a box may be given
};

constexpr int max_dimensions = 1 << 20;

std::vector<FunctionInfo> of_any_dimension() {
  using enum TestFunctionKind;
  return {
      {ackley,
       {"ackley", "a cone with waves", 1, max_dimensions, 0, {}, true},
       {{-32.768, 32.768}},
       0,
       problems::ackley},
      {branin_hidden,
       {"branin-hidden",
        "the function branin of two coordinates; the other coordinates have no effect", 4,
        max_dimensions},
       {{-5, 10}, {0, 15}},
       0.39788735772973816,
       problems::branin_hidden},
      {griewank,
       {"griewank", "a bowl with waves", 1, max_dimensions, 0, {}, true},
       {{-600, 600}},
       0,
       problems::griewank},
      {levy,
       {"levy", "steep waves", 1, max_dimensions, 0, {}, true},
       {{-10, 10}},
       0,
       problems::levy,
       1},
      {michalewicz,
       {"michalewicz", "narrow valleys on a plateau, steepness m = 10", 1, 1000},
       {{0, pi}},
       0,
       problems::michalewicz},
      {rastrigin,
       {"rastrigin", "a grid of local minima", 1, max_dimensions, 0, {}, true},
       {{-5.12, 5.12}},
       0,
       problems::rastrigin},
      {rosenbrock,
       {"rosenbrock", "a curved valley", 2, max_dimensions, 0, {}, true},
       {{-5, 10}},
       0,
       problems::rosenbrock,
       1},
      {sphere,
       {"sphere", "a sum of squares", 1, max_dimensions, 0, {}, true},
       {{-5.12, 5.12}},
       0,
       problems::sphere},
      {styblinski_tang,
       {"styblinski-tang", "2^D local minima of different depths", 1, max_dimensions, 0, {}, true},
       {{-5, 5}},
       -39.166165703771412,
       problems::styblinski_tang,
       -2.903534027771177},
  };
}

std::vector<FunctionInfo> of_few_dimensions() {
  using enum TestFunctionKind;
  return {
      {branin,
       {"branin", "three equal minima", 2, 2, 2},
       {{-5, 10}, {0, 15}},
       0.39788735772973816,
       problems::branin},
      {drop_wave, {"drop-wave", "rings", 2, 2, 2}, {{-5.12, 5.12}}, -1, problems::drop_wave},
      {eggholder,
       {"eggholder", "steep waves; the minimum is at the edge of the box", 2, 2, 2},
       {{-512, 512}},
       -959.6406627208506,
       problems::eggholder},
      {hartmann3,
       {"hartmann3", "four wells", 3, 3, 3},
       {{0, 1}},
       -3.8627821478207557,
       problems::hartmann3},
      {hartmann6,
       {"hartmann6", "four wells", 6, 6, 6},
       {{0, 1}},
       -3.3223680114155147,
       problems::hartmann6},
      {holder_table,
       {"holder-table", "four equal minima near the corners of the box", 2, 2, 2},
       {{-10, 10}},
       -19.208502567886732,
       problems::holder_table},
      {six_hump_camel,
       {"six-hump-camel", "six local minima, two of them global", 2, 2, 2},
       {{-3, 3}, {-2, 2}},
       -1.0316284534898774,
       problems::six_hump_camel},
  };
}

const std::vector<FunctionInfo>& function_infos() {
  static const std::vector<FunctionInfo> all = [] {
    std::vector<FunctionInfo> both = of_any_dimension();
    std::ranges::move(of_few_dimensions(), std::back_inserter(both));
    std::ranges::sort(both, {}, [](const FunctionInfo& info) { return info.form.name; });
    return both;
  }();
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
  model.box.assign(static_cast<std::size_t>(n), info.box.front());
  model.box.back() = info.box.back();
  model.plain = info.plain;
  model.best_known = info.kind == TestFunctionKind::styblinski_tang ? n * info.best : info.best;
  if (info.kind == TestFunctionKind::michalewicz) {
    model.best_known = 0;
    for (int i = 1; i <= n; ++i) *model.best_known -= michalewicz_crest(i);
  }
  model.best_known_source = "the minimum of the function, computed from its formula";
  return model;
}

}  // namespace

std::vector<NamedSentence> function_names() {
  std::vector<NamedSentence> names;
  for (const FunctionInfo& info : function_infos()) {
    const bool open = info.form.least != info.form.most;
    names.push_back(
        {std::string(info.form.name) + (open ? "-D" : ""), std::string(info.form.sentence)});
  }
  return names;
}

Problem function_by_name(const std::string& text) {
  std::vector<SpecForm> forms;
  for (const FunctionInfo& info : function_infos()) forms.push_back(info.form);
  const Spec spec = parse_spec("function", text, forms);
  for (const FunctionInfo& info : function_infos()) {
    if (info.form.name != spec.name) continue;
    DensityModel model = model_of(info, *spec.dimension);
    if (spec.box) {
      const auto [lower, upper] = *spec.box;
      model.box.assign(model.box.size(), {lower, upper});
      if (!(lower <= info.place && info.place <= upper)) model.best_known.reset();
    }
    return to_problem(std::move(model), "function:" + text, "function");
  }
  throw InvalidArgument("problem.unknown", "unknown function '" + spec.name + "'", {},
                        "kiln describe function");
}

}  // namespace problems

Problem make_test_function(TestFunctionKind kind, int dimension) {
  for (const auto& info : problems::function_infos()) {
    if (info.kind != kind) continue;
    const std::string name(info.form.name);
    const bool open = info.form.least != info.form.most;
    return problems::to_problem(problems::model_of(info, dimension),
                                "function:" + name + (open ? "-" + std::to_string(dimension) : ""),
                                "function");
  }
  throw InvalidArgument("problem.unknown",
                        "the kind of test function is not an enumerator of TestFunctionKind", {},
                        "pass an enumerator, for example TestFunctionKind::ackley");
}

}  // namespace kiln
