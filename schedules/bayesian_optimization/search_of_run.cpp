// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "search_of_run.hpp"

#include <limits>
#include <string>
#include <utility>

#include "kiln/alarm.hpp"

namespace kiln {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::string> names_of(const Problem& problem, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) {
    const bool named = k < problem.coordinates.size() && !problem.coordinates[k].name.empty();
    names.push_back(named ? problem.coordinates[k].name : "x[" + std::to_string(k + 1) + "]");
  }
  return names;
}

ModelSummary summary_of(const StudyModel& model, const Problem& problem, std::size_t count) {
  ModelSummary summary;
  if (model.lengths.empty()) return summary;
  const std::vector<std::string> names = names_of(problem, count);
  for (std::size_t k = 0; k < count; ++k) {
    summary.lengths.emplace_back(names[k], model.lengths[model.lengths.size() == 1 ? 0 : k]);
  }
  summary.noise = std::sqrt(model.noise);
  summary.spread = std::abs(problem.units.objective_of_stored.slope()) * model.spread;
  summary.fit = model.fit;
  return summary;
}

}  // namespace

std::vector<std::vector<Trial>> BayesianOptimization::Search::suggest(TickContext& run,
                                                                      std::int64_t count) {
  // Fits of a thousand observations take a minute, and they are not on the queue of the run.
  const ArmedQueue armed(*queue, run.queue().alarm());
  return search->suggest(studies, count);
}

void BayesianOptimization::Search::evaluate(TickContext& run,
                                            const std::vector<std::vector<Trial>>& trials) {
  ReplicaBatch& batch = run.batch();
  batch.write_states(search->states_of(trials, batch.group_size()));
  run.keep_tick();
  run.evaluate(value, wanted_of(run, trials), constraint);
  std::vector<double> energies = run.read(value);
  note(run, trials, energies);
  fill(trials, energies);
  run.queue().upload(batch.energy().data, energies.data(), energies.size() * sizeof(double));
  run.track_best();
}

View1<const std::uint32_t> BayesianOptimization::Search::wanted_of(
    TickContext& run, const std::vector<std::vector<Trial>>& trials) const {
  std::size_t most = 0;
  for (const std::vector<Trial>& of_study : trials) most = std::max(most, of_study.size());
  std::vector<std::uint32_t> wanted(static_cast<std::size_t>(only.size));
  if (most == wanted.size()) return {};
  std::fill_n(wanted.begin(), most, 1u);
  run.queue().upload(only.data, wanted.data(), wanted.size() * sizeof(std::uint32_t));
  return {only.data, only.size};
}

void BayesianOptimization::Search::fill(const std::vector<std::vector<Trial>>& trials,
                                        std::vector<double>& energies) const {
  const auto size = static_cast<std::size_t>(only.size);
  const auto some = std::ranges::find_if(trials, [](const auto& of) { return !of.empty(); });
  const double of_some = energies[static_cast<std::size_t>(some - trials.begin()) * size];
  for (std::size_t study = 0; study < trials.size(); ++study) {
    const auto begin = energies.begin() + static_cast<std::ptrdiff_t>(study * size);
    std::fill(begin + static_cast<std::ptrdiff_t>(trials[study].size()),
              begin + static_cast<std::ptrdiff_t>(size), of_some);
  }
}

bool BayesianOptimization::Search::confirm(TickContext& run) {
  const Seen* const known = best_seen(true);
  if (known == nullptr || known->value >= best_of(false)) return false;
  Trial again;  // of no number: nobody asked for it
  again.point = known->point;
  std::vector<std::vector<Trial>> trials(studies.size());
  trials.front().push_back(std::move(again));
  evaluate(run, trials);
  return true;
}

void BayesianOptimization::Search::note(TickContext& run,
                                        const std::vector<std::vector<Trial>>& trials,
                                        std::vector<double>& energies) {
  std::vector<double> g;
  if (constraint.rows > 0) {
    g = run.read(View1<double>(constraint.data, constraint.rows * constraint.columns));
  }
  ++batches;
  const auto size = static_cast<std::size_t>(run.batch().group_size());
  for (std::size_t study = 0; study < trials.size(); ++study) {
    for (std::size_t i = 0; i < size; ++i) {
      if (i >= trials[study].size()) break;
      const std::size_t slot = study * size + i;
      std::vector<double> of_slot;
      for (std::int64_t j = 0; j < constraint.rows; ++j) {
        of_slot.push_back(g[static_cast<std::size_t>(j * constraint.columns) + slot]);
      }
      const double stored = energies[slot];
      // Host objectives give NaN for what was cut off, and infinity for what has no value.
      const bool cut_off = std::isnan(stored) && run.problem().watches_stop();
      const bool met = std::ranges::all_of(of_slot, [](double x) { return x <= 0; });
      if (!met || !std::isfinite(stored)) energies[slot] = infinity;  // never the best
      const Trial& trial = trials[study][i];
      const bool asked_for = trial.id != 0;
      if (cut_off) {
        if (asked_for) search->forget(study, trial.id);
        continue;
      }
      if (asked_for) search->tell(study, trial.id, stored, of_slot);
      history.push_back({study, batches, trial.point, stored, std::move(of_slot)});
    }
  }
}

Evaluations BayesianOptimization::Search::evaluations(const Problem& problem) const {
  Evaluations evaluations;
  for (const Seen& seen : history) {
    // The engine's word for a value that is none is infinity.
    const double shown = std::isfinite(seen.value) ? problem.units.objective_of_stored(seen.value)
                                                   : std::numeric_limits<double>::quiet_NaN();
    evaluations.all.push_back({static_cast<std::int64_t>(seen.study), seen.batch,
                               search->encoding().decode(seen.point), shown, seen.constraints});
  }
  evaluations.model = summary_of(search->study(0).models.front(), problem,
                                 static_cast<std::size_t>(search->encoding().dimension()));
  return evaluations;
}

std::vector<double> BayesianOptimization::Search::best_by_sweep(const Problem& problem) const {
  std::vector<double> best;
  double lowest = infinity;
  for (const Seen& seen : history) {
    if (seen.study != 0) continue;
    if (seen.feasible()) lowest = std::min(lowest, seen.value);
    if (seen.batch == 0) continue;
    best.resize(static_cast<std::size_t>(seen.batch));
    best.back() = problem.units.objective_of_stored(lowest);
  }
  return best;
}

auto BayesianOptimization::Search::best_seen(bool past) const -> const Seen* {
  const Seen* best = nullptr;
  for (const Seen& seen : history) {
    if ((seen.batch == 0) != past || !seen.feasible()) continue;
    if (best == nullptr || seen.value < best->value) best = &seen;
  }
  return best;
}

double BayesianOptimization::Search::best_of(bool past) const {
  const Seen* const best = best_seen(past);
  return best == nullptr ? infinity : best->value;
}

}  // namespace kiln
