// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/engine.hpp"

#include <exception>
#include <utility>

#include "kiln/device/begin_run.hpp"

#include "run_core.hpp"

namespace kiln {

Engine::Engine(RunOptions options)
    : options_(std::move(options)), opened_(open_backend(options_.device, options_.threads)) {}

Engine::Engine(RunOptions options, OpenedBackend backend)
    : options_(std::move(options)), opened_(std::move(backend)) {}

namespace {

// Observers that end a run in place of throwing, so that its result is not lost.
Observers guarded(const Observers& observers, std::exception_ptr& failure) {
  Observers all;
  for (const Observer& observer : observers) {
    all.emplace_back(observer.name(), [&observer, &failure](const ReportPoint& point) {
      try {
        return observer(point);
      } catch (...) {
        if (!failure) failure = std::current_exception();
        return Next::stop;
      }
    });
  }
  return all;
}

}  // namespace

Result Engine::run(const Problem& problem, Schedule& schedule, const Budget& budget,
                   const Observers& observers, std::stop_token stop) {
  const BegunRun begun = begin_run(problem, schedule, budget, options_, opened_);
  begun.run->core().end_with_advance();
  std::exception_ptr failure;
  try {
    Result result = begun.run->advance(guarded(observers, failure), std::move(stop));
    if (!begun.fewer_replicas.empty())
      result.advice.push_back("The run had " + begun.fewer_replicas + ".");
    if (failure) {
      result.stop = Stop::failed;
      result.stopped_by.clear();
      result.failure = failure;
    }
    return result;
  } catch (...) {
    if (failure) std::rethrow_exception(failure);  // without it there would be a result
    throw;
  }
}

}  // namespace kiln
