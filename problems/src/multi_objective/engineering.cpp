// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/objectives/vector_objective.hpp"
#include "kiln/problems/multi_objective.hpp"
#include "kiln/problems/vector_functions/engineering_design.hpp"

#include "benchmarks.hpp"

namespace kiln::problems {
namespace {

struct Design {
  int number;
  std::string sentence;
  std::vector<std::string> objectives;  ///< "volume [cm^3]": name, and unit where one is known
  std::vector<Block> blocks;
  std::vector<std::string> variables;  ///< one for each variable of the blocks, likewise
  std::vector<double> ideal, nadir;
};

Block reals(std::int64_t count, double lower, double upper) {
  return {BlockKind::real, count, lower, upper};
}
Block integers(std::int64_t count, double lower, double upper) {
  return {BlockKind::integer, count, lower, upper};
}

// Names are the suite's, but for what its formulas contradict: what it calls lengths of bars (RE21,
// RE31) are their cross-sections, as in the papers that it cites. A unit is given where the suite
// or such a paper gives it and the numbers of the formula agree: 1296000 cubic inches are 750 cubic
// feet (RE23), 4.9e-5 is pi times 2 mm times the density of steel in kg/mm^3 (RE33), 29.4 and 0.6
// are 30 ft of steel and of concrete at 1 and 0.02 dollars per square inch and foot (RE22), and
// 0.6224 is 2 pi times 0.283 lb/in^3 times 0.35 dollars per pound (RE23). Sums of violations have
// none.
//
// The box is that which the suite publishes, with three exceptions. Of RE21 and RE25 its files have
// the nadir of formulas that it has corrected since: RE21's is worked out from the formula, RE25's
// is that of its file for the other formula, whose second value is the one at the least first. RE36
// has so few states that its front was listed.

std::vector<Design> two_objectives() {
  const double root = math::sqrt(2.0);
  // The front of RE21 has x3 = root, and leads from x = (1, root, root, 1) to (3, 3, root, 3); the
  // fourth root of 2 is what sqrt(x3) is there.
  const double fourth = math::sqrt(root);
  return {
      {21,
       "a truss of four bars: volume and displacement",
       {"volume [cm^3]", "displacement [cm]"},
       {reals(1, 1, 3), reals(2, root, 3), reals(1, 1, 3)},
       {"area 1 [cm^2]", "area 2 [cm^2]", "area 3 [cm^2]", "area 4 [cm^2]"},
       {200 * (5 + fourth), 0.01 * (4.0 / 3 + 2 * root / 3 - 2)},
       {200 * (9 + 3 * root + fourth), 0.04}},
      {22,
       "a beam of reinforced concrete: cost and violation",
       {"cost [$]", "violation"},
       {integers(1, 0, EngineeringDesign::areas - 1), reals(1, 0, 20), reals(1, 0, 40)},
       {"reinforcement index", "width [in]", "depth [in]"},
       {5.88, 0},
       {361.262944647, 180.01547}},
      {23,
       "a pressure vessel: cost and violation",
       {"cost [$]", "violation"},
       {integers(2, 1, 100), reals(1, 10, 200), reals(1, 10, 240)},
       {"shell thickness [in/16]", "head thickness [in/16]", "inner radius [in]", "length [in]"},
       {15.9018007813, 0},
       {5852.05896876, 1288669.78054}},
      {24,
       "a hatch cover: weight and violation",
       {"weight", "violation"},
       {reals(1, 0.5, 4), reals(1, 0.5, 50)},
       {"flange thickness", "beam height"},
       {60.5, 0},
       {481.608088535, 44.2819047619}},
      {25,
       "a coil spring: volume of wire and violation",
       {"volume [in^3]", "violation"},
       {integers(1, 1, 70), reals(1, 0.6, 3), integers(1, 0, EngineeringDesign::diameters - 1)},
       {"coils", "outside diameter [in]", "wire diameter index"},
       {0.037591349242869145, 0},
       {0.4039703897022513, 2224669.4424175746}},
  };
}

std::vector<Design> three_objectives() {
  return {
      {31,
       "a truss of two bars: volume, stress and violation",
       {"volume [m^3]", "stress [kPa]", "violation"},
       {reals(2, 1e-5, 100), reals(1, 1, 3)},
       {"area 1 [m^2]", "area 2 [m^2]", "height [m]"},
       {5.53731918799e-05, 0.333333333333, 0},
       {500.002668442, 8246211.25124, 19359919.7502}},
      {32,
       "a welded beam: cost, deflection and violation",
       {"cost [$]", "deflection [in]", "violation"},
       {reals(1, 0.125, 5), reals(2, 0.1, 10), reals(1, 0.125, 5)},
       {"weld thickness [in]", "weld length [in]", "beam height [in]", "beam thickness [in]"},
       {0.010205496875, 0.00043904, 0},
       {37.7831517014, 17561.6, 425062976.628}},
      {33,
       "a disc brake: mass, stopping time and violation",
       {"mass [kg]", "stopping time [s]", "violation"},
       {reals(1, 55, 80), reals(1, 75, 110), reals(1, 1000, 3000), reals(1, 11, 20)},
       {"inner radius [mm]", "outer radius [mm]", "engaging force [N]", "friction surfaces"},
       {-0.721525, 1.13907203907, 0},
       {5.3067, 3.12833430979, 25}},
      {34,
       "the crash of a car: weight, acceleration and intrusion",
       {"weight", "acceleration", "intrusion"},
       {reals(5, 1, 3)},
       {"thickness 1", "thickness 2", "thickness 3", "thickness 4", "thickness 5"},
       {1661.7078225, 6.14280000608, 0.0394},
       {1695.2002035, 10.7454, 0.26399999965}},
      {35,
       "a speed reducer: weight, stress and violation",
       {"weight", "stress", "violation"},
       {reals(1, 2.6, 3.6), reals(1, 0.7, 0.8), integers(1, 17, 28), reals(2, 7.3, 8.3),
        reals(1, 2.9, 3.9), reals(1, 5, 5.5)},
       {"face width [cm]", "module [cm]", "pinion teeth", "shaft 1 length [cm]",
        "shaft 2 length [cm]", "shaft 1 diameter [cm]", "shaft 2 diameter [cm]"},
       {2352.34611145, 694.233587469, 0},
       {6634.56208, 1695.96387746, 397.358927317}},
      {36,
       "a gear train: gear ratio error, size and violation",
       {"error", "size [teeth]", "violation"},
       {integers(4, 12, 60)},
       {"teeth 1", "teeth 2", "teeth 3", "teeth 4"},
       {7.89473684213e-05, 12, 0},
       {5.931, 49, 0.355720675227}},
      {37,
       "a rocket injector: two temperatures and the length of the flame",
       {"face temperature", "combustion length", "tip temperature"},
       {reals(4, 0, 1)},
       {"hydrogen flow angle", "hydrogen area", "oxygen area", "post tip thickness"},
       {0.00889341391106, 0.00488, -0.431499999825},
       {0.98949120096, 0.956587924661, 0.987530948586}},
  };
}

std::vector<Design> designs() {
  std::vector<Design> all = two_objectives();
  for (Design& design : three_objectives()) all.push_back(std::move(design));
  return all;
}

/// Names the variables, for people and in files.
void name_variables(const std::vector<std::string>& names, Problem& problem) {
  for (const std::string& name : names) problem.coordinates.push_back({name, false, {}});
  const auto named_values = [names](StateSpan state) {
    std::vector<std::pair<std::string, std::string>> named;
    const auto add = [&](const auto& values) {
      for (const auto value : values) {
        named.emplace_back(names[named.size()], fmt::format("{}", value));
      }
    };
    for (const BlockSpan& block : state) std::visit(add, block);
    return named;
  };
  problem.solution.named_values = named_values;
  problem.solution.format = [named_values](StateSpan state) {
    std::string text;
    for (const auto& [name, value] : named_values(state)) {
      text += fmt::format("{}  # {}\n", value, name);
    }
    return text;
  };
}

}  // namespace

std::vector<NamedSentence> engineering_design_names() {
  std::vector<NamedSentence> names;
  for (const Design& design : designs()) {
    names.push_back({std::to_string(design.number), design.sentence});
  }
  return names;
}

Problem engineering_design(int number) {
  const std::string name = "re:" + std::to_string(number);
  for (Design& design : designs()) {
    if (design.number != number) continue;
    Objectives objectives;
    objectives.names = std::move(design.objectives);
    objectives.ideal = std::move(design.ideal);
    objectives.nadir = std::move(design.nadir);
    auto source =
        std::make_shared<CatalogVectorFunctionSource<EngineeringDesign>>(EngineeringDesign{number});
    Problem problem = make_multi_objective_problem(
        name, "re", make_vector_objective(name, Space(std::move(design.blocks)), std::move(source)),
        std::move(objectives));
    name_variables(design.variables, problem);
    return problem;
  }
  throw InvalidArgument("problem.unknown", "unknown re '" + std::to_string(number) + "'",
                        "available: 21 .. 25, 31 .. 37", "kiln describe re");
}

}  // namespace kiln::problems
