// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "kiln/schedules/amosa.hpp"
#include "kiln/schedules/evolutionary.hpp"

namespace kiln::test {

/// A method that searches for a front, for tests that hold for all of them: a strategy of
/// evolutionary search, or AMOSA.
struct FrontMethod : EvolutionaryOptions {
  std::int64_t archive = 100;
  double temperature = 0, temperature_end = 0, temperature_spread = 1;

  /// @param method  "nsga2", "nsga3", "moead", "sms-emoa" or "amosa"
  explicit FrontMethod(std::string method = "nsga2") { strategy = std::move(method); }

  std::unique_ptr<Schedule> schedule() const {
    if (strategy != "amosa") return std::make_unique<Evolutionary>(*this);
    AmosaOptions options;
    if (population > 0) options.chains = population;
    options.islands = islands;
    options.archive = archive;
    options.temperature = temperature;
    options.temperature_end = temperature_end;
    options.temperature_spread = temperature_spread;
    options.mutation_probability = mutation_probability;
    options.epsilon = epsilon;
    options.reference = reference;
    return std::make_unique<Amosa>(options);
  }
};

}  // namespace kiln::test
