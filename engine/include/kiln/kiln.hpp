// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The umbrella header: everything that a program which embeds Kiln usually needs.
#include "kiln/backend.hpp"
#include "kiln/budget.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/objective.hpp"
#include "kiln/observer.hpp"
#include "kiln/plan.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/best_known.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/graph.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/problems/qubo.hpp"
#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"
#include "kiln/result.hpp"
#include "kiln/run.hpp"
#include "kiln/schedule.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/simulated_annealing.hpp"
#include "kiln/space.hpp"
#include "kiln/version.hpp"
