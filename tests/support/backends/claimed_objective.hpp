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
  ClaimedObjective(std::string name, Abilities abilities, Space space = Space::spins(8))
      : name_(std::move(name)), abilities_(std::move(abilities)), space_(std::move(space)) {}
  std::string name() const override { return name_; }
  const Space& space() const override { return space_; }
  Abilities abilities() const override { return abilities_; }
  std::unique_ptr<BoundObjective> bind(Queue&) const override {
    return std::make_unique<BoundObjective>();
  }

 private:
  std::string name_;
  Abilities abilities_;
  Space space_;
};

inline Problem problem_that_claims(std::string name, Abilities abilities) {
  abilities.layouts = {Layout::packed32};
  return make_problem(std::make_shared<ClaimedObjective>(std::move(name), std::move(abilities)));
}

}  // namespace kiln::test
