// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "kiln/archive.hpp"
#include "kiln/problem.hpp"
#include "kiln/result.hpp"
#include "kiln/run.hpp"
#include "kiln/schedule.hpp"

#include "backends/backends.hpp"

namespace kiln::test {

/// Expects both archives to have the same sections, and in each but times (clock.*) the same bytes.
/// @param except  sections whose bytes may differ, but which both must have
void expect_same_archives(const Archive& one, const Archive& other,
                          const std::set<std::string>& except = {});

/// Expects what the schedules say of two runs to have the same bits, but for rates and times: names
/// that end in `_per_s` or `_s`.
void expect_same_numbers(const Result& one, const Result& other);

/// Runs twice from the beginning to the end of the budget and expects the same bits: all that a run
/// saves, its solution, its work, and what the schedule says of it. On the CPU one thread is
/// compared with all of them (two, if there is one alone), a GPU with the CPU.
///
/// @param make  a new schedule for each run
/// @return the result of the run on `device`, with one thread
Result expect_same_everywhere(Device device, const Problem& problem,
                              const std::function<std::unique_ptr<Schedule>()>& make,
                              RunOptions options, const Budget& budget,
                              const std::set<std::string>& except = {});

}  // namespace kiln::test
