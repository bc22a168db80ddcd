// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/observer.hpp"

/// Observers for usual purposes, to be put together by value:
/// `{stagnation(10000), deadline(evening), trace(points)}`. None of them changes the path of a run.
/// Those that end a run do so at a report point (RunOptions::report_interval_s), so that repeats
/// may end at different ticks, as with a time limit. Budget::target, work_limit and stop_when end
/// every repeat at the same tick.
namespace kiln::observers {

/// Ends a run whose best value has not improved for `sweeps` sweeps of each replica. It never ends
/// a run of several objectives, nor one without a state of finite value. A schedule that anneals
/// improves late: there, more sweeps than one anneal has.
/// @throws InvalidArgument `observer.sweeps` for less than 1
KILN_API Observer stagnation(std::int64_t sweeps);

/// Ends a run at the first report point at or after a moment of the wall clock. Changes of the
/// clock count. Unlike Budget::time_limit_s it cuts off no tick.
KILN_API Observer deadline(std::chrono::system_clock::time_point moment);

/// Appends each report point to `points`, which must outlive the run.
KILN_API Observer trace(std::vector<ReportPoint>& points);

/// Writes each report point as a line of CSV: time_s, sweeps, attempts, best, best_energy, mean,
/// acceptance_rate, beta. Numbers are written so that they can be read back exactly; best and
/// best_energy are empty until there is a best state. The header is written at once. `out` must
/// outlive the run. A stream that fails ends no run, unless it throws: look at its state
/// afterwards.
KILN_API Observer trace_csv(std::ostream& out);

}  // namespace kiln::observers
