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

template <class T>
View1<const T> part_of(const View1<T>& view, std::int64_t begin, std::int64_t end) {
  return {view.data + begin, end - begin};
}

}  // namespace

std::int64_t draws_at_next_look(std::int64_t draws, double growth) {
  const std::int64_t share = draws / share_of_look / draws_of_look * draws_of_look;
  const std::int64_t least = draws + std::max(draws_of_look, share), most = 2 * draws;
  const double expected = 0.9 * static_cast<double>(draws) * growth;
  if (!(expected < static_cast<double>(most))) return std::max(least, most);
  const auto looks = static_cast<std::int64_t>(expected) / draws_of_look;
  return std::max(least, looks * draws_of_look);
}

void DrawWatch::begin(const DrawRecorder& recorder) {
  recorder_ = &recorder;
  forget();
}

void DrawWatch::forget() {
  draws_ = 0;
  values_.clear();
  log_density_.clear();
  begin_looks({});
}

void DrawWatch::begin_looks(const DrawConditions& conditions) {
  conditions_ = conditions;
  judge_ = {};
  next_ = draws_of_look;
  met_at_ = looks_ = 0;
}

void DrawWatch::require_possible(const DrawConditions& conditions) const {
  const DrawTrace& trace = recorder_->trace();
  const double most =
      trace.capacity < least_draws ? 0 : max_effective_draws(trace.kept, trace.capacity);
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

std::int64_t DrawWatch::kept_after(std::uint64_t sweeps) const {
  const DrawTrace& trace = recorder_->trace();
  const std::int64_t made = static_cast<std::int64_t>(sweeps) - recorder_->setting().warmup;
  return std::clamp<std::int64_t>((made + trace.thin - 1) / trace.thin, 0, trace.capacity);
}

// Beyond the last draw that is kept there is nothing new.
std::uint64_t DrawWatch::sweeps_of(std::int64_t draws) const {
  const DrawTrace& trace = recorder_->trace();
  if (draws > trace.capacity) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(recorder_->setting().warmup + draws * trace.thin);
}

LooksAtDraws::Look DrawWatch::look(ReportContext& run, const DrawConditions& conditions,
                                   std::uint64_t sweeps) {
  if (conditions != conditions_) begin_looks(conditions);
  const std::int64_t kept = kept_after(sweeps);
  while (sweeps_of(next_) <= sweeps) {
    const std::int64_t draws = next_;
    const DrawVerdict verdict = judge(run, draws, kept);
    met_at_ = verdict.met ? draws : 0;
    next_ = std::isinf(verdict.growth) ? std::numeric_limits<std::int64_t>::max()
                                       : draws_at_next_look(draws, verdict.growth);
    ++looks_;
  }
  return {met_at_ > 0 && sweeps_of(met_at_) == sweeps, sweeps_of(next_), looks_};
}

// The draws are read when a condition asks for them: their number alone may tell enough.
DrawVerdict DrawWatch::judge(ReportContext& run, std::int64_t draws, std::int64_t made) {
  const std::int64_t kept = recorder_->trace().kept;
  const auto column_of = [&](std::size_t quantity) {
    read(run, made);
    return column(quantity, draws);
  };
  quantities_ = quantities_of(run.problem(), recorder_->dimension()).names.size();
  return judge_.look(conditions_, {kept, draws, recorder_->setting().pools.members,
                                   recorder_->setting().super_chains, recorder_->divergences(run),
                                   quantities_, column_of});
}

void DrawWatch::read(ReportContext& run, std::int64_t draws) {
  const DrawTrace& trace = recorder_->trace();
  const std::int64_t dimension = recorder_->dimension(), kept = trace.kept;
  if (draws <= draws_) return;
  const Quantities quantities = quantities_of(run.problem(), dimension);
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

std::vector<double> DrawWatch::column(std::size_t quantity, std::int64_t draws) const {
  const auto kept = static_cast<std::size_t>(recorder_->trace().kept);
  const auto each = static_cast<std::size_t>(draws);
  std::vector<double> values;
  values.reserve(kept * each);
  for (std::size_t chain = 0; chain < kept; ++chain) {
    for (std::size_t draw = 0; draw < each; ++draw) {
      const std::size_t at = draw * kept + chain;
      values.push_back(quantity == quantities_ ? log_density_[at]
                                               : values_[at * quantities_ + quantity]);
    }
  }
  return values;
}

}  // namespace kiln::hmc
