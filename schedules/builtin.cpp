// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "builtin.hpp"

#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln {

void register_schedules(Registry& registry) {
  registry.add(ScheduleEntry{"simulated-annealing",
                             "many independent replicas cooled from hot to cold, in rounds; the "
                             "default for discrete problems",
                             SimulatedAnnealingOptions::table().fields(), [](const auto& texts) {
                               return std::make_unique<SimulatedAnnealing>(
                                   SimulatedAnnealingOptions::table().parse(
                                       texts, "schedule 'simulated-annealing'"));
                             }});
}

}  // namespace kiln
