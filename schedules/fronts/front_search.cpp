// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "fronts/front_search.hpp"

#include "kiln/result.hpp"

#include "advice.hpp"

namespace kiln {
namespace {

// In units of the box, from values that users read.
std::vector<double> reference_in(const FrontBox& box, const Objectives& objectives,
                                 const std::vector<double>& reference) {
  std::vector<double> values;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    values.push_back(objectives.maximized[k] ? 0.0 - reference[k] : reference[k]);
  }
  return box.scaled(values);
}

void complain_about_length(const char* option, std::size_t length, std::size_t objectives,
                           std::vector<std::string>& complaints) {
  if (length == 0 || length == objectives) return;
  complaints.push_back(std::string(option) + " has " + std::to_string(length) + " values for " +
                       std::to_string(objectives) + " objectives");
}

}  // namespace

void FrontSearch::allocate(AllocateContext& run, const std::vector<double>& epsilon) {
  pool.allocate(run, epsilon);
  volume.allocate(run, pool);
  has_box = false;
}

void FrontSearch::measure_in(RunContext& run, FrontBox chosen,
                             const std::vector<double>& reference) {
  box = std::move(chosen);
  if (!reference.empty()) {
    box.reference = reference_in(box, *run.problem().objectives, reference);
  }
  has_box = true;
  volume.measure_in(run, box);
}

FrontCandidates FrontSearch::first_front(ReportContext& run,
                                         const std::vector<StateBlock>& states) const {
  const std::vector<std::int32_t> rank = run.read(pool.rank);
  const std::vector<double> violation = run.read(pool.violation);
  const std::vector<double> value =
      run.read(View1<double>(pool.value.data, pool.objectives * pool.columns()));
  const PointColumns columns = pool.resident_columns();
  std::vector<std::int64_t> members;
  FrontCandidates candidates;
  for (std::int64_t member = 0; member < pool.islands * pool.residents; ++member) {
    const std::int64_t column = columns[member];
    if (rank[static_cast<std::size_t>(column)] != 0) continue;
    members.push_back(member);
    std::vector<double> point;
    for (std::int64_t k = 0; k < pool.objectives; ++k) {
      point.push_back(value[static_cast<std::size_t>(k * pool.columns() + column)]);
    }
    candidates.values.push_back(std::move(point));
    candidates.violations.push_back(violation[static_cast<std::size_t>(column)]);
  }
  candidates.box = box;
  candidates.states = read_states_of(run.queue(), states, members);
  return candidates;
}

FrontCandidates FrontSearch::best_front(ReportContext& run, const std::vector<StateBlock>& states,
                                        bool boxes) const {
  FrontCandidates candidates = first_front(run, states);
  FrontVolume::Best best = volume.best(run);
  if (best.states.empty()) return candidates;
  const Front now = make_front(run.problem(), candidates, run.queue());
  if (!(now.hypervolume < best.volume)) return candidates;
  FrontCandidates kept;
  kept.states = std::move(best.states);
  kept.box = box;
  // Ends beyond the reference point add nothing to a volume. Of a box there may be one member only.
  if (boxes) return kept;
  for (const std::size_t end : now.extremes) kept.states.push_back(now.members[end].state);
  return kept;
}

void check_lengths(const std::vector<double>& reference, std::vector<double>& epsilon,
                   std::size_t objectives, std::vector<std::string>& complaints) {
  complain_about_length("reference", reference.size(), objectives, complaints);
  if (epsilon.size() == 1) epsilon.resize(objectives, epsilon[0]);
  complain_about_length("epsilon", epsilon.size(), objectives, complaints);
}

void report_evaluations(const ReportContext& run, Result& result) {
  result.work.evaluations = (result.work.sweeps + 1) * run.batch().replicas();
  result.diagnostics["evaluations"] =
      static_cast<double>(*result.work.evaluations + run.box_evaluations());
}

void report_front(Result& result) {
  if (!result.front) return;
  const Front& front = *result.front;
  result.diagnostics["front_size"] = static_cast<double>(front.members.size());
  std::string advice = advice_on_reference(front);
  if (!advice.empty()) result.advice.push_back(std::move(advice));
}

}  // namespace kiln
