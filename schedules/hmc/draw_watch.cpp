// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "draw_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kiln/errors.hpp"

namespace kiln::hmc {
namespace {

constexpr std::int64_t draws_of_look = 100;
constexpr std::int64_t share_of_look = 10;  // of the draws so far
constexpr std::int64_t least_draws = 4;     // of each chain, for R-hat and effective draws

// See effective_draws().
double most_effective_draws(std::int64_t chains, std::int64_t draws) {
  const double all = static_cast<double>(chains * draws);
  return all * std::max(1.0, std::log10(all));
}

template <class T>
View1<const T> part_of(const View1<T>& view, std::int64_t begin, std::int64_t end) {
  return {view.data + begin, end - begin};
}

}  // namespace

std::int64_t draws_at_next_look(std::int64_t draws) {
  const std::int64_t share = draws / share_of_look / draws_of_look * draws_of_look;
  return draws + std::max(draws_of_look, share);
}

void DrawWatch::begin(const DrawRecorder& recorder) {
  recorder_ = &recorder;
  forget();
}

void DrawWatch::forget() {
  judge_ = {};
  draws_ = 0;
  values_.clear();
  log_density_.clear();
}

void DrawWatch::require_possible(const DrawConditions& conditions) const {
  const DrawTrace& trace = recorder_->trace();
  const double most =
      trace.capacity < least_draws ? 0 : most_effective_draws(trace.kept, trace.capacity);
  for (const DrawCondition& one : conditions.all) {
    const bool possible = one.wants_at_least() ? one.bound <= most : most > 0;
    if (possible || one.statistic == DrawStatistic::divergences) continue;
    throw InvalidArgument("budget.until",
                          fmt::format("no run of {} kept chains x {} kept draws can meet {}",
                                      trace.kept, trace.capacity, DrawConditions{{one}}.text()),
                          fmt::format("it has at most {:.0f} effective draws", most),
                          Fix("raise the option draws").or_else(Fix::more_replicas()));
  }
}

std::uint64_t DrawWatch::next_look(std::uint64_t sweeps) const {
  const DrawTrace& trace = recorder_->trace();
  const auto warmup = static_cast<std::uint64_t>(recorder_->setting().warmup);
  for (std::int64_t draws = draws_of_look; draws <= trace.capacity;
       draws = draws_at_next_look(draws)) {
    const std::uint64_t at = warmup + static_cast<std::uint64_t>(draws * trace.thin);
    if (at > sweeps) return at;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

bool DrawWatch::meets(ReportContext& run, const DrawConditions& conditions, std::int64_t sweeps) {
  const DrawTrace& trace = recorder_->trace();
  const RecorderSetting& setting = recorder_->setting();
  const std::int64_t made = std::max<std::int64_t>(0, sweeps - setting.warmup);
  read(run, std::min(trace.capacity, (made + trace.thin - 1) / trace.thin));
  const std::int64_t groups = setting.super_chains;
  const auto column_of = [this](std::size_t quantity) { return column(quantity); };
  return judge_.met(conditions, {trace.kept, draws_, setting.pools.members,
                                 groups > 0 && trace.kept % groups == 0 ? groups : 0,
                                 recorder_->divergences(run), quantities_, column_of});
}

void DrawWatch::read(ReportContext& run, std::int64_t draws) {
  const DrawTrace& trace = recorder_->trace();
  const std::int64_t dimension = recorder_->dimension(), kept = trace.kept;
  const Quantities quantities = quantities_of(run.problem(), dimension);
  quantities_ = quantities.names.size();
  if (draws <= draws_) return;
  const std::int64_t begin = draws_ * kept, end = draws * kept;
  const std::vector<double> position =
      run.read(part_of(trace.position, begin * dimension, end * dimension));
  for (const double energy : run.read(part_of(trace.energy, begin, end))) {
    log_density_.push_back(-energy);
  }
  values_.resize(static_cast<std::size_t>(end) * quantities_);
  std::vector<double> point(static_cast<std::size_t>(dimension));
  for (std::int64_t at = 0; at < end - begin; ++at) {
    const std::int64_t draw = at / kept, chain = at % kept;
    for (std::int64_t i = 0; i < dimension; ++i) {
      const std::int64_t from = (draw * dimension + i) * kept + chain;
      point[static_cast<std::size_t>(i)] = position[static_cast<std::size_t>(from)];
    }
    const auto to = static_cast<std::size_t>(begin + at) * quantities_;
    quantities.compute(point, std::span(values_).subspan(to, quantities_));
  }
  draws_ = draws;
}

std::vector<double> DrawWatch::column(std::size_t quantity) const {
  const auto kept = static_cast<std::size_t>(recorder_->trace().kept);
  const auto draws = static_cast<std::size_t>(draws_);
  std::vector<double> values;
  values.reserve(kept * draws);
  for (std::size_t chain = 0; chain < kept; ++chain) {
    for (std::size_t draw = 0; draw < draws; ++draw) {
      const std::size_t at = draw * kept + chain;
      values.push_back(quantity == quantities_ ? log_density_[at]
                                               : values_[at * quantities_ + quantity]);
    }
  }
  return values;
}

}  // namespace kiln::hmc
