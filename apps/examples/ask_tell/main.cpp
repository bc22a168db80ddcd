// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A reaction whose yield is to be made large, on three machines that take different times: points
// are asked for while others are pending, and their values come in any order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <kiln/kiln.hpp>
#include <limits>
#include <set>
#include <vector>

namespace {

constexpr const char* catalysts[] = {"copper", "nickel", "palladium"};

struct Setting {
  int catalyst;
  double temperature, hours;
};

Setting setting_of(const kiln::State& state) {
  const auto& reals = std::get<std::vector<double>>(state[1]);
  return {std::get<std::vector<std::int32_t>>(state[0])[0], 20 + 100 * reals[0], 12 * reals[1]};
}

// What a laboratory would measure, in percent. Above 110 degrees the solvent boils: no result.
double yield_of(const Setting& s) {
  if (s.temperature > 110) return std::numeric_limits<double>::quiet_NaN();
  const double best[] = {60, 95, 80}, at[] = {90, 70, 50};
  const double heat = (s.temperature - at[s.catalyst]) / 30, time = (s.hours - 7) / 5;
  return best[s.catalyst] * std::exp(-heat * heat - time * time);
}

struct Machine {
  kiln::Suggestion work;
  int ready = 0;  // the hour in which it is done
};

}  // namespace

int main() {
  try {
    kiln::BayesianProblem problem;
    problem.space =
        kiln::Space({{kiln::BlockKind::category, 1, 0, 2}, {kiln::BlockKind::real, 2, 0, 1}});
    problem.coordinates = {
        {"catalyst", true, {}}, {"temperature", false, {}}, {"hours", false, {}}};
    kiln::BayesianOptimizer search(problem);

    std::vector<Machine> machines(3);
    std::set<kiln::State> seen;
    int hour = 0, started = 0, max_pending = 0;
    const auto start = [&](Machine& machine) {
      machine.work = search.ask().front();
      seen.insert(machine.work.state);
      machine.ready = hour + 2 + started++ * 7 % 5;
      max_pending = std::max(max_pending, static_cast<int>(search.pending()));
    };
    for (Machine& machine : machines) start(machine);
    while (search.evaluations() < 45) {
      ++hour;
      for (Machine& machine : machines) {
        if (machine.ready > hour) continue;
        // Values are minimised; what has failed is told as it is.
        search.tell(machine.work.id, -yield_of(setting_of(machine.work.state)));
        start(machine);
      }
    }

    const Setting best = setting_of(search.best_state());
    std::printf("pending at once           %d\n", max_pending);
    std::printf("all points different      %s\n",
                seen.size() == static_cast<std::size_t>(started) ? "yes" : "no");
    std::printf("best catalyst             %s\n", catalysts[best.catalyst]);
    std::printf("yield above 94 %%          %s\n", -search.best_value() > 94 ? "yes" : "no");
    std::printf(
        "about 70 degrees, 7 hours %s\n",
        std::abs(best.temperature - 70) < 5 && std::abs(best.hours - 7) < 0.8 ? "yes" : "no");
    std::printf("the model knows           %zu length scales\n", search.model().lengths.size());
    return 0;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
