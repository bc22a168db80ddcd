// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/run.hpp"

#include "backends/claimed_objective.hpp"
#include "backends/cpu_options.hpp"
#include "models/small_models.hpp"
#include "schedule_suite.hpp"

// What the tests of all schedules begin with.
namespace kiln::test {

/// A graph of 90 vertices that every schedule cuts well, but not at once.
inline Problem sparse_cut() { return make_maxcut(random_graph(90, 1, 3), "sparse"); }

/// The part of a ScheduleSuite's traits that is the same for all schedules made of sweeps: an
/// objective without values is refused, and one for another device.
struct SweepingTraits {
  static std::vector<Unsuitable> unsuitable() {
    return {{problem_of_nothing("mute"), {"mute", "evaluate"}},
            {problem_of_a_gpu("functor"), {"functor", "CPU"}}};
  }
};

}  // namespace kiln::test
