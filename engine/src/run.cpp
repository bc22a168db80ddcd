// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/run.hpp"

#include <utility>

#include "run_core.hpp"

namespace kiln {

Run::Run(const Problem& problem, Schedule& schedule, const Budget& budget,
         const RunOptions& options, OpenedBackend backend)
    : core_(std::make_unique<RunCore>(problem, schedule, budget, options, std::move(backend))) {}
Run::~Run() = default;

Result Run::advance(const Observers& observers, std::stop_token stop) {
  return core_->advance(core_->budget(), observers, std::move(stop));
}
Result Run::advance_to(const Budget& limit, const Observers& observers, std::stop_token stop) {
  return core_->advance(limit, observers, std::move(stop));
}
Result Run::result_so_far(Stop stop) { return core_->result_so_far(stop); }
void Run::save(Archive& archive) const { core_->save(archive); }

// Replicas lie as the naming of draws wants it, so a run of the other naming begins anew.
void Run::load(const Archive& archive) {
  const DrawNaming former = core_->draw_naming(), naming = RunCore::naming_of(archive);
  if (naming != former) {
    const Problem& problem = core_->problem();
    Schedule& schedule = core_->schedule();
    const Budget budget = core_->budget();
    RunOptions options = core_->options();
    const OpenedBackend backend = core_->backend();
    const auto begin = [&](DrawNaming draws) {
      options.draw_naming = draws;
      core_ = std::make_unique<RunCore>(problem, schedule, budget, options, backend);
    };
    core_.reset();  // a schedule serves one run at a time
    try {
      begin(naming);
    } catch (...) {
      begin(former);
      throw;
    }
  }
  core_->load(archive);
}

const Problem& Run::problem() const noexcept { return core_->problem(); }
const Budget& Run::budget() const noexcept { return core_->budget(); }
const OpenedBackend& Run::backend() const noexcept { return core_->backend(); }
ReplicaBatch& Run::batch() noexcept { return core_->batch(); }
Queue& Run::queue() noexcept { return core_->queue(); }
DrawNaming Run::draw_naming() const noexcept { return core_->draw_naming(); }
double Run::seconds_at(std::uint64_t step) const { return core_->seconds_at(step); }

}  // namespace kiln
