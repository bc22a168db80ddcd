// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions with constraints: benchmarks of methods for expensive objectives.
#include "kiln/problems/constrained.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "kiln/errors.hpp"

#include "continuous/spec.hpp"

namespace kiln::problems {
namespace {

using std::numbers::e;
using std::numbers::pi;
using Point = std::span<const double>;
using Values = std::span<double>;

double squared(double x) { return x * x; }
double cubed(double x) { return x * x * x; }

// The formulas as they stand in the literature: a value, and constraints met where g <= 0.

// R. B. Gramacy et al., Technometrics 58 (2016) 1.
double gramacy(Point x, Values g) {
  g[0] = 1.5 - x[0] - 2 * x[1] - 0.5 * std::sin(2 * pi * (squared(x[0]) - 2 * x[1]));
  g[1] = squared(x[0]) + squared(x[1]) - 1.5;
  return x[0] + x[1];
}

// B. K. Kannan and S. N. Kramer, J. Mech. Des. 116 (1994) 405: plates come in sixteenths of an
// inch, which the first two variables count.
double pressure_vessel(Point x, Values g) {
  const double shell = 0.0625 * x[0], head = 0.0625 * x[1], radius = x[2], length = x[3];
  g[0] = -shell + 0.0193 * radius;
  g[1] = -head + 0.00954 * radius;
  g[2] = -pi * squared(radius) * length - 4.0 / 3 * pi * cubed(radius) + 1296000;
  g[3] = length - 240;
  return 0.6224 * shell * radius * length + 1.7781 * head * squared(radius) +
         3.1661 * squared(shell) * length + 19.84 * squared(shell) * radius;
}

// K. M. Ragsdell and D. T. Phillips, J. Eng. Ind. 98 (1976) 1021, as C. A. Coello Coello has it.
double welded_beam(Point x, Values g) {
  constexpr double load = 6000, reach = 14, elasticity = 30e6, shear = 12e6;
  const double h = x[0], l = x[1], t = x[2], b = x[3];
  const double direct = load / (std::numbers::sqrt2 * h * l);
  const double radius = std::sqrt(squared(l) / 4 + squared((h + t) / 2));
  const double polar = 2 * (std::numbers::sqrt2 * h * l * (squared(l) / 12 + squared((h + t) / 2)));
  const double twist = load * (reach + l / 2) * radius / polar;
  const double stress = std::sqrt(squared(direct) + direct * twist * l / radius + squared(twist));
  const double buckling = 4.013 * elasticity * std::sqrt(squared(t) * squared(cubed(b)) / 36) /
                          squared(reach) *
                          (1 - t / (2 * reach) * std::sqrt(elasticity / (4 * shear)));
  const double steel = 0.04811 * t * b * (14 + l);
  g[0] = stress - 13600;
  g[1] = 6 * load * reach / (b * squared(t)) - 30000;
  g[2] = h - b;
  g[3] = 0.10471 * squared(h) + steel - 5;
  g[4] = 0.125 - h;
  g[5] = 4 * load * cubed(reach) / (elasticity * cubed(t) * b) - 0.25;
  g[6] = load - buckling;
  return 1.10471 * squared(h) * l + steel;
}

// A. D. Belegundu (1982): a spring of wire x[0], coil x[1] and x[2] turns.
double tension_spring(Point x, Values g) {
  const double wire = x[0], coil = x[1], turns = x[2];
  g[0] = 1 - cubed(coil) * turns / (71785 * squared(squared(wire)));
  g[1] =
      (4 * squared(coil) - wire * coil) / (12566 * (coil * cubed(wire) - squared(squared(wire)))) +
      1 / (5108 * squared(wire)) - 1;
  g[2] = 1 - 140.45 * wire / (squared(coil) * turns);
  g[3] = (wire + coil) / 1.5 - 1;
  return (turns + 2) * coil * squared(wire);
}

// J. Golinski, J. Mechanisms 8 (1973) 419; x[2] is a number of teeth.
double speed_reducer(Point x, Values g) {
  const double face = x[0], module = x[1], teeth = x[2], a = x[3], b = x[4], c = x[5], d = x[6];
  const double gear = face * squared(module) * teeth;
  g[0] = 27 / gear - 1;
  g[1] = 397.5 / (gear * teeth) - 1;
  g[2] = 1.93 * cubed(a) / (module * teeth * squared(squared(c))) - 1;
  g[3] = 1.93 * cubed(b) / (module * teeth * squared(squared(d))) - 1;
  g[4] = std::sqrt(squared(745 * a / (module * teeth)) + 16.9e6) / (110 * cubed(c)) - 1;
  g[5] = std::sqrt(squared(745 * b / (module * teeth)) + 157.5e6) / (85 * cubed(d)) - 1;
  g[6] = module * teeth / 40 - 1;
  g[7] = 5 * module / face - 1;
  g[8] = face / (12 * module) - 1;
  g[9] = (1.5 * c + 1.9) / a - 1;
  g[10] = (1.1 * d + 1.9) / b - 1;
  return 0.7854 * face * squared(module) * (3.3333 * squared(teeth) + 14.9334 * teeth - 43.0934) -
         1.508 * face * (squared(c) + squared(d)) + 7.4777 * (cubed(c) + cubed(d)) +
         0.7854 * (a * squared(c) + b * squared(d));
}

// D. Eriksson and M. Poloczek, AISTATS 2021: the constraints meet at the optimum.
double ackley(Point x, Values g) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, squares = 0, cosines = 0;
  for (const double xi : x) {
    sum += xi;
    squares += squared(xi);
    cosines += std::cos(2 * pi * xi);
  }
  g[0] = sum;
  g[1] = std::sqrt(squares) - 5;
  return -20 * std::exp(-0.2 * std::sqrt(squares / n)) - std::exp(cosines / n) + 20 + e;
}

struct Info {
  SpecForm form;
  std::vector<Block> blocks;  ///< of ackley one, whose count is given
  int constraints;
  double best;
  double (*function)(Point, Values);
  const char* value_name = "value";
  std::vector<const char*> names = {};  ///< of the variables, units in brackets; empty: x[1], ...
};

Block real(double lower, double upper, std::int64_t count = 1) {
  return {BlockKind::real, count, lower, upper};
}
Block integer(double lower, double upper, std::int64_t count = 1) {
  return {BlockKind::integer, count, lower, upper};
}

// Best values: the optimum of ackley is that of the formula, the others agree in the literature to
// the digits given.
const std::vector<Info>& infos() {
  static const std::vector<Info> all{
      {{"ackley", "a cone with waves; the feasible region is a half ball; 2 constraints", 1, 1000,
        10},
       {real(-5, 10)},
       2,
       0,
       ackley},
      {{"gramacy", "a plane; the feasible region has a wavy edge; 2 constraints", 2, 2, 2},
       {real(0, 1, 2)},
       2,
       0.599788,
       gramacy},
      {{"pressure-vessel",
        "cost of a pressure vessel; plate thicknesses in units of 1/16 inch; 4 constraints", 4, 4,
        4},
       {integer(1, 99, 2), real(10, 200, 2)},
       4,
       6059.714335,
       pressure_vessel,
       "cost",
       {"shell thickness [1/16 in]", "head thickness [1/16 in]", "inner radius [in]",
        "length [in]"}},
      {{"speed-reducer", "weight of the gears and shafts of a speed reducer; 11 constraints", 7, 7,
        7},
       {real(2.6, 3.6), real(0.7, 0.8), integer(17, 28), real(7.3, 8.3), real(7.8, 8.3),
        real(2.9, 3.9), real(5, 5.5)},
       11,
       2996.348165,
       speed_reducer,
       "weight",
       {"face width [cm]", "module [cm]", "pinion teeth", "shaft 1 length [cm]",
        "shaft 2 length [cm]", "shaft 1 diameter [cm]", "shaft 2 diameter [cm]"}},
      {{"tension-spring", "weight of a coil spring; 4 constraints", 3, 3, 3},
       {real(0.05, 2), real(0.25, 1.3), real(2, 15)},
       4,
       0.012665233,
       tension_spring,
       "weight",
       {"wire diameter [in]", "coil diameter [in]", "active coils"}},
      {{"welded-beam", "cost of a welded beam; 7 constraints", 4, 4, 4},
       {real(0.1, 2), real(0.1, 10, 2), real(0.1, 2)},
       7,
       1.724852309,
       welded_beam,
       "cost",
       {"weld thickness [in]", "weld length [in]", "bar height [in]", "bar thickness [in]"}},
  };
  return all;
}

Problem to_problem(const Info& info, int dimension, const std::string& name) {
  std::vector<Block> blocks = info.blocks;
  if (info.form.least != info.form.most) blocks.front().count = dimension;
  const auto function = [call = info.function](StateSpan state, std::span<double> g) {
    std::vector<double> x;
    for (const BlockSpan& block : state) {
      std::visit([&](auto values) { x.insert(x.end(), values.begin(), values.end()); }, block);
    }
    return call(x, g);
  };
  Problem problem = make_problem(
      make_constrained_host_objective(name, Space(std::move(blocks)), info.constraints, function));
  problem.identity.family = "constrained";
  problem.units.value_name = info.value_name;
  for (const char* variable : info.names) problem.coordinates.push_back({variable, false, {}});
  problem.start.schedule = "bayesian-optimization";
  problem.known.best = info.best;
  problem.known.best_source =
      info.best == 0 ? "the minimum of the function, known from its formula" : "the literature";
  return problem;
}

}  // namespace

std::vector<NamedSentence> constrained_names() {
  std::vector<NamedSentence> names;
  for (const Info& info : infos()) {
    const bool open = info.form.least != info.form.most;
    names.push_back(
        {std::string(info.form.name) + (open ? "-D" : ""), std::string(info.form.sentence)});
  }
  return names;
}

Problem constrained_by_name(const std::string& text) {
  std::vector<SpecForm> forms;
  for (const Info& info : infos()) forms.push_back(info.form);
  const Spec spec = parse_spec("constrained", text, forms);
  for (const Info& info : infos()) {
    if (info.form.name == spec.name)
      return to_problem(info, *spec.dimension, "constrained:" + text);
  }
  throw InvalidArgument("problem.unknown", "unknown function '" + spec.name + "'", {},
                        "kiln describe constrained");
}

}  // namespace kiln::problems
