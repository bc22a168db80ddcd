// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/engine.hpp"

#include "run_core.hpp"

namespace kiln {

Engine::Engine(RunOptions options)
    : options_(std::move(options)), opened_(open_backend(options_.device, options_.threads)) {}

Result Engine::run(const Problem& problem, Schedule& schedule, const Budget& budget,
                   const Observers& observers, std::stop_token stop) {
  Run run(problem, schedule, budget, options_, opened_);
  run.core().end_with_advance();
  return run.advance(observers, std::move(stop));
}

}  // namespace kiln
