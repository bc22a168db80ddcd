// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/run.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/kernels/catalog.hpp"

#include "run_parts.hpp"

namespace kiln {
namespace {

void check_budget(const Budget& budget) {
  if (budget.time_limit_s && !(*budget.time_limit_s > 0)) {
    throw InvalidArgument("budget.time_limit", "a time limit must be greater than 0 seconds");
  }
  if (budget.sweeps && *budget.sweeps < 1) {
    throw InvalidArgument("budget.sweeps", "a sweep limit must be at least 1");
  }
  if (budget.target && std::isnan(*budget.target)) {
    throw InvalidArgument("budget.target", "the target is not a number");
  }
}

std::int64_t default_replicas(const Objective& objective, bool cuda) {
  const std::int64_t preferred = objective.preferred_replicas(cuda);
  if (preferred > 0) return preferred;
  return objective.abilities().pace == Pace::host ? 32 : 128;
}

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

OpenedBackend backend_for(const Objective& objective, const RunOptions& options,
                          OpenedBackend opened) {
  const bool cuda = opened.backend->info().name != "cpu";
  if (!cuda && !objective.abilities().cpu) {
    throw InvalidArgument("objective.backend",
                          "objective '" + objective.name() + "' does not run on the CPU",
                          opened.fallback_reason, "run with device cuda");
  }
  if (!cuda || objective.abilities().cuda) return opened;
  const std::string reason = "objective '" + objective.name() + "' runs on the host only";
  if (options.device != "auto") {
    throw InvalidArgument("objective.backend", reason,
                          "device " + options.device + " was asked for", "run with device cpu");
  }
  OpenedBackend cpu = open_backend("cpu", options.threads);
  cpu.fallback_reason = reason;
  return cpu;
}

void check_memory(const Objective& objective, const std::vector<Layout>& layouts,
                  const BatchShape& shape, const DeviceInfo& info) {
  if (info.memory_free == 0) return;
  const std::uint64_t objective_bytes = objective.device_bytes(info.name != "cpu", shape.replicas);
  const std::uint64_t batch_bytes = ReplicaBatch::bytes_needed(objective.space(), layouts, shape);
  const std::uint64_t usable = info.memory_free - info.memory_free / 20;
  if (objective_bytes + batch_bytes <= usable) return;
  const auto gib = [](std::uint64_t bytes) {
    return detail::show_real(std::round(static_cast<double>(bytes) / 0x1p30 * 10) / 10) + " GiB";
  };
  std::string fix;
  if (objective_bytes < usable) {
    const double share =
        static_cast<double>(usable - objective_bytes) / static_cast<double>(batch_bytes);
    const auto fitting = static_cast<std::int64_t>(static_cast<double>(shape.replicas) * share);
    const std::int64_t replicas = fitting / (32 * shape.groups) * (32 * shape.groups);
    if (replicas > 0) fix = "--replicas " + std::to_string(replicas);
  }
  throw OutOfDeviceMemory(std::to_string(shape.replicas) + " replicas need " + gib(batch_bytes) +
                              " and the problem " + gib(objective_bytes) + "; " + info.name +
                              " has " + gib(info.memory_free) + " free",
                          objective_bytes + batch_bytes, info.memory_free, fix);
}

}  // namespace

Run::Run(const Problem& problem, Schedule& schedule, const Budget& budget,
         const RunOptions& options, OpenedBackend backend)
    : problem_(problem), schedule_(schedule), budget_(budget), options_(options) {
  if (!problem.objective) throw InvalidArgument("problem.empty", "a problem needs an objective");
  if (problem.objective->space().outputs() != 1) {
    throw InvalidArgument("objective.outputs",
                          "objective '" + problem.objective->name() + "' gives " +
                              std::to_string(problem.objective->space().outputs()) +
                              " values; schedule '" + schedule.name() + "' minimises one");
  }
  check_budget(budget);
  const auto begin = Clock::now();
  opened_ = backend_for(*problem.objective, options, std::move(backend));
  progress_ = std::make_unique<Progress>();
  plan(budget);
  redraw({});
  schedule_.start(*this);
  track_best();
  queue_->wait();
  progress_->setup_s = seconds_since(begin);
}

Run::~Run() = default;

void Run::plan(const Budget& budget) {
  const Objective& objective = *problem_.objective;
  const Abilities abilities = objective.abilities();
  if (!abilities.evaluate) {
    throw InvalidArgument("objective.ability",
                          "objective '" + objective.name() + "' does not offer evaluate",
                          "every run needs the energies of its first states");
  }
  if (options_.replicas < 0) {
    throw InvalidArgument("run.replicas",
                          "a run cannot have " + std::to_string(options_.replicas) + " replicas",
                          "1 or more, or 0 for a default");
  }
  const Needs needs = schedule_.needs(problem_, budget);
  sweeps_per_tick_ = std::max<std::uint32_t>(1, needs.sweeps_per_tick);
  default_sweeps_ = needs.default_sweeps;
  const DeviceInfo info = opened_.backend->info();
  const std::int64_t replicas =
      options_.replicas > 0
          ? options_.replicas
          : round_up(default_replicas(objective, info.name != "cpu"), needs.groups);
  const BatchShape shape{replicas, needs.groups, options_.seed};
  check_memory(objective, abilities.layouts, shape, info);

  queue_ = opened_.backend->make_queue();
  batch_ = std::make_unique<ReplicaBatch>(*queue_, objective.space(), abilities.layouts, shape);
  objective_ = objective.bind(*queue_);
  objective_->prepare(*batch_, *queue_);
  RunControl control;
  control.tick_sweeps = sweeps_per_tick_;
  control_ = DeviceArray<RunControl>(*queue_, std::vector<RunControl>{control});
  summary_ = DeviceArray<RunSummary>(*queue_, std::vector<RunSummary>(1));
  if (batch_->n_blocks() > TrackBest::max_blocks) {
    throw InvalidArgument("space.blocks", "a space can have at most " +
                                              std::to_string(TrackBest::max_blocks) + " blocks");
  }
  inverse_scale_ = problem_.energy_of_stored.factor;
  if (!abilities.metropolis_sweep) fallback_ = std::make_unique<Fallback>(*queue_, *batch_);
}

void* Run::new_scratch(const std::string& name, const void* data, std::size_t bytes) {
  const auto [place, fresh] = scratch_.try_emplace(name);
  if (!fresh) throw InvalidArgument("run.scratch", "scratch '" + name + "' is there already");
  place->second = DeviceArray<std::byte>(*queue_, static_cast<std::int64_t>(bytes));
  if (bytes > 0) queue_->upload(place->second.data(), data, bytes);
  return place->second.data();
}

void Run::redraw(View1<const std::uint32_t> only) {
  std::int64_t first = 0;
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    const StateBlock block = batch_->state(b);
    queue_->launch(RandomState{block, first, batch_->rung_of(), only, batch_->names(), control()});
    first += block.variables;
  }
  evaluate(batch_->energy(), only);
}

void Run::evaluate(View1<double> energy, View1<const std::uint32_t> only) {
  objective_->evaluate(EvaluateArgs{*batch_, energy, only, control()}, *queue_);
}

void Run::sweep(View1<const double> beta, std::uint32_t step_offset, bool energies_needed) {
  if (fallback_) {
    fallback_sweep(beta, step_offset);
  } else {
    objective_->metropolis_sweep(
        SweepArgs{*batch_, beta, control(), step_offset, inverse_scale_, energies_needed}, *queue_);
  }
}

void Run::fallback_sweep(View1<const double> beta, std::uint32_t step_offset) {
  std::uint32_t attempt = 0;
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    const StateBlock block = batch_->state(b);
    for (std::int64_t v = 0; v < block.variables; ++v, ++attempt) {
      queue_->launch(ProposeMove{block, v, attempt, fallback_->undo(), batch_->names(), control(),
                                 step_offset});
      evaluate(fallback_->trial_energy.view(), {});
      queue_->launch(AcceptMove{block, fallback_->undo(), batch_->energy(),
                                fallback_->trial_energy.view(), batch_->accepted(),
                                batch_->not_finite(), beta, batch_->rung_of(), batch_->names(),
                                inverse_scale_, control(), attempt, step_offset});
    }
  }
}

void Run::track_best() {
  TrackBest kernel;
  kernel.n_blocks = batch_->n_blocks();
  for (int b = 0; b < kernel.n_blocks; ++b) {
    kernel.state[b] = batch_->state(b);
    kernel.best[b] = batch_->best_state(b);
  }
  kernel.replicas = batch_->replicas();
  kernel.energy = batch_->energy();
  kernel.best_energy = batch_->best_energy();
  kernel.best_step = batch_->best_step();
  kernel.improved = batch_->improved();
  kernel.control = control();
  queue_->launch(kernel);
}

void Run::recapture() noexcept { graph_.reset(); }

void Run::end_tick() { queue_->launch(AdvanceTick{control(), sweeps_per_tick_}); }

void Run::enqueue_tick() {
  schedule_.enqueue(*this);
  end_tick();
}

void Run::enqueue_ticks(std::int64_t count) {
  const bool capture = options_.graph_capture && queue_->can_capture() &&
                       problem_.objective->abilities().pace == Pace::device;
  // The first tick is enqueued plainly: kernels are loaded with their first launch, and loading
  // does not belong into a capture.
  if (capture && !graph_ && progress_->warmed_up) {
    queue_->begin_capture();
    enqueue_tick();
    graph_ = queue_->end_capture();
    progress_->captured = true;
  }
  const Counters before = queue_->counters();
  for (std::int64_t i = 0; i < count; ++i) {
    if (graph_) {
      queue_->replay(*graph_);
    } else {
      enqueue_tick();
    }
  }
  progress_->warmed_up = true;
  progress_->in_ticks += queue_->counters() - before;
}

void Run::post_summary() {
  queue_->launch(Summarize{control(), batch_->energy(), batch_->accepted(), shown_beta_,
                           batch_->replicas(), summary_.data()});
  queue_->post_summary(summary_.data());
}

void Run::save(Archive& archive) const {
  archive.put("run.control", control_.download());
  batch_->save(archive);
  for (const auto& [name, array] : scratch_) archive.put("scratch." + name, array.download());
  schedule_.save(archive);
}

void Run::load(const Archive& archive) {
  archive.restore("run.control", control_);
  batch_->load(archive);
  for (auto& [name, array] : scratch_) archive.restore("scratch." + name, array);
  schedule_.load(archive);
}

}  // namespace kiln
