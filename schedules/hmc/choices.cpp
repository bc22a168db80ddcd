// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "choices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kiln/errors.hpp"

#include "shared/complaints.hpp"

namespace kiln::hmc {
namespace {

constexpr std::int64_t many_chains = 128;     // from here on chains learn together
constexpr std::int64_t small_dimension = 64;  // correlations cost little up to here
constexpr std::int64_t default_rank = 16;
constexpr std::int64_t annealing_leapfrogs = 8;
constexpr double annealing_jitter = 0.5;
constexpr std::int64_t polishing_sweeps = 3;
// Between 0 and twice the step size: what comes down a ladder into a place a hundred times narrower
// than the bulk goes on with some of these steps, where steps of one size all reject.
constexpr double tempering_jitter = 1;
constexpr std::int64_t descent_of_starts = 200;
// With so many chains each is too short for an R-hat of its own; sixteen groups tell the variance
// of their means to a third.
constexpr std::int64_t chains_for_groups = 256;
constexpr std::int64_t default_groups = 16;

bool anneals(const HmcOptions& o) { return o.mode == "anneal"; }

std::string sampler_for(const HmcOptions& o, const Circumstances& at) {
  if (o.sampler != "automatic") return o.sampler;
  if (anneals(o)) return "static";
  return at.nuts && at.chains < many_chains ? "nuts" : "chees";
}

std::string metric_for(const HmcOptions& o, const Circumstances& at) {
  // A chain is reflected along one coordinate at a time: its momentum must be, too.
  if (at.walls && o.metric != "unit") return "diagonal";
  if (o.metric != "automatic") return o.metric;
  return at.dimension <= small_dimension ? "low_rank" : "diagonal";
}

std::int64_t super_chains_for(const HmcOptions& o, const Circumstances& at) {
  if (o.super_chains > 0 && at.chains % o.super_chains != 0) {
    throw InvalidArgument(
        "hmc.super_chains",
        fmt::format("{} chains cannot be divided into {} super-chains of equal size", at.chains,
                    o.super_chains),
        "a divisor of the number of chains",
        fmt::format("--chains {}", (at.chains / o.super_chains + 1) * o.super_chains));
  }
  if (o.super_chains >= 0) return o.super_chains;
  const bool many = at.chains >= chains_for_groups && at.chains % default_groups == 0;
  return many && at.random_starts && !anneals(o) ? default_groups : 0;
}

// What was given of the options that one mode alone has.
std::vector<const char*> given_for_sampling(const HmcOptions& o) {
  std::vector<const char*> given;
  if (o.draws > 0) given.push_back("draws");
  if (o.warmup >= 0) given.push_back("warmup");
  if (o.keep > 0) given.push_back("keep");
  if (o.thin > 0) given.push_back("thin");
  if (o.rungs > 1) given.push_back("rungs");
  if (o.super_chains > 0) given.push_back("super_chains");
  return given;
}

std::vector<const char*> given_for_annealing(const HmcOptions& o) {
  std::vector<const char*> given;
  if (o.beta_min > 0) given.push_back("beta_min");
  if (o.beta_max > 0) given.push_back("beta_max");
  if (o.anneal_sweeps > 0) given.push_back("anneal_sweeps");
  if (o.polish_sweeps >= 0) given.push_back("polish_sweeps");
  return given;
}

void complain_about_mode(std::vector<std::string>& all, const HmcOptions& o) {
  const auto complain = [&](const std::vector<const char*>& given, const char* mode) {
    for (const char* name : given) {
      all.push_back(fmt::format("{} needs mode={}", name, mode));
    }
  };
  if (anneals(o)) complain(given_for_sampling(o), "sample");
  if (o.mode == "sample") complain(given_for_annealing(o), "anneal");
}

}  // namespace

bool asks_for_draws(const HmcOptions& o) { return !given_for_sampling(o).empty(); }

std::vector<std::string> complaints_about(const HmcOptions& o) {
  std::vector<std::string> all = HmcOptions::table().validate(o);
  const bool fixed = o.sampler == "static";
  if (o.leapfrogs > 0 && !fixed) {
    all.push_back("leapfrogs needs sampler=static");
  }
  if (fixed && o.leapfrogs == 0 && o.length == 0) {
    all.push_back("sampler=static needs leapfrogs or length, for example leapfrogs=16");
  }
  if (fixed && o.leapfrogs > 0 && o.length > 0) {
    all.push_back("leapfrogs and length exclude each other: remove leapfrogs or length");
  }
  complain_about_betas(all, o);
  complain_about_mode(all, o);
  if (o.rungs > 1 && o.parameter_min >= 1) {
    all.push_back("parameter_min must be less than 1, the parameter of the last rung");
  }
  if (o.anneal_sweeps > 0 && o.polish_sweeps >= o.anneal_sweeps) {
    all.push_back("polish_sweeps must be smaller than anneal_sweeps");
  }
  if (o.super_chains == 1) {
    all.push_back(
        "super_chains must not be 1: nested R-hat compares at least 2 groups, and 0 means no "
        "groups");
  }
  if (o.super_chains > 1 && o.keep % o.super_chains != 0) {
    all.push_back(
        "keep must be a multiple of super_chains: each super-chain keeps the same number of "
        "chains");
  }
  return all;
}

void settle(HmcOptions& o, const Circumstances& at) {
  o.sampler = sampler_for(o, at);
  o.metric = metric_for(o, at);
  o.super_chains = super_chains_for(o, at);
  if (!at.descends || anneals(o)) o.descent = 0;
  if (o.descent < 0) o.descent = at.random_starts ? descent_of_starts : 0;
  if (o.target_acceptance == 0) o.target_acceptance = o.sampler == "nuts" ? 0.8 : 0.7;
  if (o.metric == "low_rank" && o.metric_rank == 0) {
    o.metric_rank = at.dimension <= small_dimension ? at.dimension : default_rank;
  }
  if (!anneals(o)) {
    if (o.rungs > 1 && o.jitter == 0) o.jitter = tempering_jitter;
    o.polish_sweeps = 0;
    return;
  }
  if (o.leapfrogs == 0 && o.length == 0) o.leapfrogs = annealing_leapfrogs;
  if (o.jitter == 0) o.jitter = annealing_jitter;
  if (!at.descends) o.polish_sweeps = 0;
  if (o.polish_sweeps < 0) o.polish_sweeps = o.anneal_sweeps < 20 ? 0 : polishing_sweeps;
  o.polish_sweeps = std::min(o.polish_sweeps, o.anneal_sweeps - 1);
}

MoverSetting mover_setting(const HmcOptions& o, std::int64_t dimension) {
  MoverSetting setting;
  setting.leapfrogs = o.leapfrogs;
  setting.length = o.length;
  setting.step_size = o.step_size;
  setting.jitter = o.jitter;
  setting.target_acceptance = o.target_acceptance;
  setting.max_leapfrogs = o.max_leapfrogs;
  if (anneals(o)) {
    // The temperature falls to the end, and the step size follows it.
    setting.adapts_metric = false;
    setting.never_frozen = true;
    return setting;
  }
  setting.no_u_turn = o.sampler == "nuts";
  setting.learns_length = o.sampler == "chees";
  setting.max_depth = o.max_depth;
  setting.super_chains = o.super_chains;
  setting.warmup = o.warmup;
  setting.adapts_metric = o.metric != "unit";
  // All correlations are all directions, however little they are stretched.
  setting.rank = o.metric == "dense" ? dimension : o.metric == "low_rank" ? o.metric_rank : 0;
  setting.largest_change = o.metric == "dense" ? 0 : 1;
  return setting;
}

}  // namespace kiln::hmc
