// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kiln/objective.hpp"
#include "kiln/problem.hpp"

namespace kiln::test {

/// An objective over spins that only claims abilities; bound, it has none.
class ClaimedObjective final : public Objective {
 public:
  ClaimedObjective(std::string name, InterfaceSet abilities, Execution execution,
                   Space space = Space::spins(8))
      : name_(std::move(name)),
        abilities_(std::move(abilities)),
        execution_(std::move(execution)),
        space_(std::move(space)) {}
  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Execution execution() const override { return execution_; }
  InterfaceSet abilities() const override { return abilities_; }
  std::unique_ptr<BoundObjective> bind(Queue&) const override {
    return std::make_unique<BoundObjective>();
  }

 private:
  std::string name_;
  InterfaceSet abilities_;
  Execution execution_;
  Space space_;
};

/// A problem whose objective claims nothing, not even energies.
inline Problem problem_of_nothing(std::string name) {
  return make_problem(std::make_shared<ClaimedObjective>(std::move(name), InterfaceSet{},
                                                         Execution{.layouts = {Layout::packed32}}));
}

/// A problem whose objective claims energies and sweeps, on a GPU alone.
inline Problem problem_of_a_gpu(std::string name) {
  const Execution gpu{.cpu = false, .cuda = true, .layouts = {Layout::packed32}};
  InterfaceSet abilities;
  abilities.add<Evaluates>();
  abilities.add<Sweeps>();
  return make_problem(std::make_shared<ClaimedObjective>(std::move(name), abilities, gpu));
}

}  // namespace kiln::test
