// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "chain_mover.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/kernels/hamiltonian/add_pool_moments.hpp"
#include "kiln/kernels/hamiltonian/hmc_adapt.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"

#include "arrays.hpp"

namespace kiln::hmc {
namespace {

View2<const double> as_const(const View2<double>& v) {
  return {v.data, v.rows, v.columns, v.stride};
}

View2<double> positions(ReplicaBatch& batch) {
  const StateBlock block = batch.state(0);
  return {block.as<double>(), block.variables, block.slots, block.slots};
}

}  // namespace

std::vector<std::uint32_t> metric_windows(std::int64_t warmup, bool learns_length) {
  constexpr std::int64_t first = 10, search = 12;  // a step size is to be found after the last one
  const std::int64_t rest = learns_length ? std::clamp<std::int64_t>(warmup / 2, search, 150)
                                          : std::clamp<std::int64_t>(warmup / 10, search, 50);
  const std::int64_t end = warmup - rest;
  if (end < 2 * first) return {};
  std::vector<std::uint32_t> bounds{static_cast<std::uint32_t>(first)};
  for (std::int64_t at = 25; bounds.back() < end; at *= 2) {
    // A last window too short for its place joins the one before.
    bounds.push_back(static_cast<std::uint32_t>(2 * at > end ? end : at));
  }
  return bounds;
}

void ChainMover::allocate(AllocateContext& run, const MoverSetting& setting) {
  setting_ = setting;
  if (setting.no_u_turn) {
    run.objective<NoUTurnMoves>().prepare_nuts(run.queue());
  } else {
    run.objective<HamiltonianMoves>().prepare_hmc(run.queue());
  }
  const Objective& objective = *run.problem().objective;
  std::int64_t most = setting.max_leapfrogs;
  if (const auto* const limited = objective.as<LimitsLeapfrogs>()) {
    most = std::min<std::int64_t>(most, limited->leapfrog_limit());
  }
  const std::vector<std::uint32_t> windows =
      setting.adapts_metric ? metric_windows(setting.warmup, setting.learns_length)
                            : std::vector<std::uint32_t>{};
  plan_ = {};
  plan_.warmup = static_cast<std::uint64_t>(setting.warmup);
  plan_.windows = run.scratch("hmc.windows", windows);
  run.require_saved_equal("hmc.windows", windows);
  plan_.target_acceptance = setting.target_acceptance;
  plan_.largest_change = setting.largest_change;
  plan_.max_leapfrogs = static_cast<std::int32_t>(most);
  plan_.max_depth = static_cast<std::int32_t>(setting.max_depth);
  plan_.groups = static_cast<std::int32_t>(std::max<std::int64_t>(setting.super_chains, 1));
  plan_.fixed_leapfrogs = static_cast<std::int32_t>(std::min(setting.leapfrogs, most));
  plan_.adapts_step = setting.step_size == 0;
  plan_.adapts_length = setting.learns_length;
  plan_.adapts_metric = !windows.empty();
  plan_.never_frozen = setting.never_frozen;
  allocate_statistics(run);
  allocate_metric(run);

  HmcAdaptation state;
  state.search = plan_.adapts_step ? 1 : 0;
  state.log_step = state.log_step_mean =
      plan_.adapts_step ? std::log(0.1) : std::log(setting.step_size);
  state.log_length = state.log_length_mean = std::log(setting.length > 0 ? setting.length : 1.0);
  adaptation_ = run.scratch("hmc.adaptation", filled(setting.pools.pools, state));
  run.require_saved<HmcAdaptation>("hmc.adaptation", [](const std::vector<HmcAdaptation>& saved) {
    return std::ranges::all_of(saved, [](const HmcAdaptation& one) {
      return one.search >= 0 && one.search <= 3 && (one.collects == 0 || one.collects == 1);
    });
  });
  HmcTuning tuning;
  tuning.step_size = plan_.adapts_step ? 0.1 : setting.step_size;
  tuning.jitter = setting.jitter;
  tuning.max_depth = plan_.adapts_step ? 1 : plan_.max_depth;
  if (!plan_.adapts_step && plan_.fixed_leapfrogs > 0) tuning.leapfrogs = plan_.fixed_leapfrogs;
  tuning_ = run.scratch("hmc.tuning", filled(setting.pools.pools, tuning));
  run.require_saved<HmcTuning>("hmc.tuning", [plan = plan_](const std::vector<HmcTuning>& saved) {
    return std::ranges::all_of(saved, [&](const HmcTuning& one) {
      return one.max_depth >= 0 && one.max_depth <= std::max(1, plan.max_depth) &&
             one.leapfrogs >= 0 && one.leapfrogs <= plan.max_leapfrogs;
    });
  });
}

void ChainMover::allocate_statistics(AllocateContext& run) {
  const std::int64_t slots = run.batch().slots();
  statistics_ = {};
  statistics_.acceptance = run.scratch_zeros<double>("hmc.acceptance", slots);
  statistics_.hamiltonian = run.scratch_zeros<double>("hmc.hamiltonian", slots);
  statistics_.leapfrogs = run.scratch_zeros<std::int32_t>("hmc.leapfrogs", slots);
  statistics_.depth = run.scratch_zeros<std::int32_t>("hmc.depth", slots);
  statistics_.divergent = run.scratch_zeros<std::int32_t>("hmc.divergent", slots);
  statistics_.retreat = run.scratch_zeros<std::int32_t>("hmc.retreat", slots);
  statistics_.gradients = run.scratch_zeros<std::uint64_t>("hmc.gradients", slots);
  run.count_work({statistics_.gradients.data, run.batch().replicas()});
  require_saved_statistics(run);
  statistics_.accepted = run.batch().accepted();
  statistics_.not_finite = run.batch().not_finite();
  if (!plan_.adapts_length) return;
  const std::int64_t d = run.batch().state(0).variables;
  const auto vectors = [&](const char* name) {
    return View2<double>{run.scratch_zeros<double>(name, d * slots).data, d, slots, slots};
  };
  statistics_.start = vectors("hmc.start");
  statistics_.proposal = vectors("hmc.proposal");
  statistics_.velocity = vectors("hmc.velocity");
}

// Which sums and powers of two follow from.
void ChainMover::require_saved_statistics(AllocateContext& run) {
  constexpr std::int64_t most_leapfrogs = std::int64_t{1} << 30;
  constexpr std::int64_t most_gradients = std::int64_t{1} << 62;
  run.require_saved_between<std::int32_t>("hmc.leapfrogs", 0, most_leapfrogs);
  run.require_saved_between<std::int32_t>("hmc.depth", 0, NutsTransition::depth_limit);
  run.require_saved_between<std::int32_t>("hmc.divergent", 0, 1);
  run.require_saved_between<std::int32_t>("hmc.retreat", 0, HmcAdapt::max_retreat);
  run.require_saved_between<std::uint64_t>("hmc.gradients", 0,
                                           most_gradients / run.batch().slots());
}

void ChainMover::allocate_metric(AllocateContext& run) {
  const std::int64_t d = run.batch().state(0).variables, pools = setting_.pools.pools;
  metric_ = {};
  metric_.dimension = static_cast<int>(d);
  metric_.rank = static_cast<int>(std::min(setting_.rank, d));
  metric_.scale = run.scratch("hmc.scale", filled(pools * d, 1.0));
  const std::int64_t rank = metric_.rank;
  if (rank > 0) {
    metric_.factor = run.scratch_zeros<double>("hmc.factor", pools * rank * d);
    metric_.stretch = run.scratch_zeros<double>("hmc.stretch", pools * rank);
    metric_.used = run.scratch_zeros<std::int32_t>("hmc.used", pools);
    run.require_saved_between<std::int32_t>("hmc.used", 0, rank);
  }
  moments_ = {};
  moments_.dimension = d;
  moments_.cross = rank > 0;
  const char* names[2][3] = {{"hmc.centre_x", "hmc.sum_x", "hmc.square_x"},
                             {"hmc.centre_g", "hmc.sum_g", "hmc.square_g"}};
  for (int which = 0; which < 2; ++which) {
    moments_.centre[which] = run.scratch_zeros<double>(names[which][0], pools * d);
    moments_.sum[which] = run.scratch_zeros<double>(names[which][1], pools * d);
    moments_.square[which] = run.scratch_zeros<double>(names[which][2], pools * moments_.squares());
  }
  scratch_ =
      run.scratch_zeros<double>("hmc.scratch", pools * HmcAdapt::scratch_size(d, moments_.cross));
}

void ChainMover::move(TickContext& run, View1<const double> beta, View1<const double> parameter,
                      std::uint32_t step_offset) const {
  const TransitionArgs args{run.batch(), beta,        parameter,     metric_.view(),
                            tuning_,     statistics_, run.control(), step_offset};
  if (setting_.no_u_turn) {
    run.objective<NoUTurnMoves>().nuts_transition(args, run.queue());
  } else {
    run.objective<HamiltonianMoves>().hmc_transition(args, run.queue());
  }

  const auto& gradients = run.objective<Differentiates>();
  const View2<double> x = positions(run.batch());
  const View2<const double> g = as_const(gradients.gradient());
  if (plan_.adapts_metric) {
    run.queue().launch(AddPoolMoments{setting_.pools, as_const(x), g, adaptation_, statistics_,
                                      moments_, run.control(), step_offset});
  }
  HmcAdapt adapt;
  adapt.plan = plan_;
  adapt.pools = setting_.pools;
  adapt.statistics = statistics_;
  adapt.position = x;
  adapt.gradient = g;
  adapt.gradient_weight = gradients.gradient_weight();
  adapt.energy = run.batch().energy();
  if (auto* const family = run.objective().as<Parametric>()) {
    const EnergyComponents parts = family->components();
    adapt.base = parts.base;
    adapt.term = parts.term;
  }
  adapt.moments = moments_;
  adapt.adaptation = adaptation_;
  adapt.tuning = tuning_;
  adapt.metric = metric_;
  adapt.scratch = scratch_;
  adapt.draw_ids = run.batch().draw_ids();
  adapt.control = run.control();
  adapt.step_offset = step_offset;
  run.queue().launch(adapt);
}

std::vector<HmcTuning> ChainMover::read_tuning(ReportContext& run) const {
  return run.read(tuning_);
}
std::vector<HmcAdaptation> ChainMover::read_adaptation(ReportContext& run) const {
  return run.read(adaptation_);
}
std::vector<std::int32_t> ChainMover::read_rank(ReportContext& run) const {
  return run.read(metric_.used);
}

}  // namespace kiln::hmc
