// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/engine.hpp"

#include "kiln/device/begin_run.hpp"

#include "run_core.hpp"

namespace kiln {

Engine::Engine(RunOptions options)
    : options_(std::move(options)), opened_(open_backend(options_.device, options_.threads)) {}

Engine::Engine(RunOptions options, OpenedBackend backend)
    : options_(std::move(options)), opened_(std::move(backend)) {}

Result Engine::run(const Problem& problem, Schedule& schedule, const Budget& budget,
                   const Observers& observers, std::stop_token stop) {
  const BegunRun begun = begin_run(problem, schedule, budget, options_, opened_);
  begun.run->core().end_with_advance();
  Result result = begun.run->advance(observers, std::move(stop));
  if (!begun.fewer_replicas.empty())
    result.advice.push_back("The run had " + begun.fewer_replicas + ".");
  return result;
}

}  // namespace kiln
