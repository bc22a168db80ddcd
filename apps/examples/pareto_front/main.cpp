// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A beam that is to be light and stiff at once: all best compromises of material, width and height,
// once by a callable of the host and once by a functor.
#include <cstdint>
#include <cstdio>
#include <kiln/kiln.hpp>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr double load = 2000, length = 1.5;  // newtons at the free end of a beam of so many metres

struct Material {
  const char* name;
  double density, elasticity, strength;  // kg/m^3, Pa, Pa
};
constexpr Material materials[] = {
    {"timber", 600, 11e9, 12e6}, {"aluminium", 2700, 70e9, 120e6}, {"steel", 7850, 210e9, 160e6}};

// A material, and width and height of the section in metres.
const kiln::Space space({{kiln::BlockKind::category, 1, 0, 2},
                         {kiln::BlockKind::real, 1, 0.01, 0.1},
                         {kiln::BlockKind::real, 1, 0.02, 0.2}});

// The whole design: f is minimised, and a constraint is met where g is at most 0.
KILN_HD void design(const Material& of, double width, double height, double* f, double* g) {
  const double area = width * height, bending = area * height;
  f[0] = of.density * length * area;                                                   // kg
  f[1] = 4000 * load * length * length * length / (of.elasticity * bending * height);  // mm
  g[0] = 6 * load * length / bending / of.strength - 1;
  g[1] = height / (4 * width) - 1;  // or it would tip over
}

struct Beam {
  KILN_HD static constexpr int objectives() { return 2; }
  KILN_HD static constexpr int constraints() { return 2; }
  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double* g) const {
    design(material[static_cast<int>(x[0])], x[1], x[2], f, g);  // variables of all blocks in order
  }
  Material material[3];
};

kiln::Problem with_names(std::shared_ptr<const kiln::Objective> objective) {
  kiln::Objectives objectives;
  objectives.names = {"mass", "deflection"};
  return kiln::make_multi_objective_problem("beam", "design", std::move(objective), objectives);
}

kiln::Problem make_by_functor() {
  const Beam beam{{materials[0], materials[1], materials[2]}};
  return with_names(kiln::make_functor_vector_objective("beam", space, beam));
}

kiln::Problem make_by_callable() {
  const auto beam = [](kiln::StateSpan state, std::span<double> f, std::span<double> g) {
    const auto material = std::get<std::span<const std::int32_t>>(state[0])[0];
    const auto width = std::get<std::span<const double>>(state[1])[0];
    const auto height = std::get<std::span<const double>>(state[2])[0];
    design(materials[material], width, height, f.data(), g.data());
  };
  return with_names(kiln::make_host_vector_objective("beam", space, 2, 2, beam));
}

void print_member(const std::string& what, const kiln::FrontMember& member) {
  const auto material = std::get<std::vector<std::int32_t>>(member.state[0])[0];
  const double width = std::get<std::vector<double>>(member.state[1])[0];
  const double height = std::get<std::vector<double>>(member.state[2])[0];
  std::printf("%-14s %7.2f kg %7.2f mm   %-9s %5.1f x %5.1f mm\n", what.c_str(), member.values[0],
              member.values[1], materials[material].name, 1000 * width, 1000 * height);
}

void print_front(const kiln::Front& front) {
  std::printf("                    mass  deflection   section\n");
  print_member("lightest", front.members[front.extremes[0]]);
  for (const double most : {5.0, 3.0, 2.0, 1.0, 0.4}) {
    // Members are in order of the first objective: the first that is stiff enough is the lightest.
    for (const kiln::FrontMember& member : front.members) {
      if (member.values[1] > most) continue;
      print_member("up to " + std::to_string(most).substr(0, 3) + " mm", member);
      break;
    }
  }
  print_member("stiffest", front.members[front.extremes[1]]);
  print_member("knee", front.members[front.knee]);
}

}  // namespace

int main() {
  try {
    kiln::EvolutionaryOptions options;
    options.population = 200;
    kiln::Evolutionary search(options);
    kiln::Engine engine({.seed = 1});
    const kiln::Budget budget{.sweeps = 250};
    const kiln::Result result = engine.run(make_by_callable(), search, budget);
    const kiln::Result again = engine.run(make_by_functor(), search, budget);

    print_front(*result.front);
    std::printf("\n%zu members, all within the limits: %s\n", result.front->members.size(),
                result.verified ? "checked" : "no");
    std::printf("the functor gives the same: %s\n",
                again.front->points() == result.front->points() ? "yes" : "no");
    return result.verified && again.verified ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
