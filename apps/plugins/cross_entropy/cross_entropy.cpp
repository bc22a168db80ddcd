// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cross_entropy.hpp"

#include <algorithm>
#include <cmath>
#include <kiln/abilities.hpp>
#include <kiln/errors.hpp>
#include <kiln/fix.hpp>
#include <kiln/problem.hpp>
#include <kiln/result.hpp>
#include <memory>
#include <utility>

namespace cross_entropy {
namespace {

bool is_of_two_values(const kiln::Space& space) {
  return std::ranges::all_of(space.blocks(), [](const kiln::Block& block) {
    return block.kind == kiln::BlockKind::spin || block.kind == kiln::BlockKind::binary;
  });
}

// A model without fields has the same energy when all spins flip, so half of an elite would say the
// opposite of the other half. The spin with the most couplings then says which is meant; -1: the
// model needs none.
std::int64_t reference_of(const kiln::AllocateContext& run) {
  const auto* const pairwise = run.objective().as<kiln::PairwiseModelled>();
  if (run.counts_only() || pairwise == nullptr) return -1;
  const kiln::PairwiseView& model = pairwise->pairwise_model();
  if (model.has_fields) return -1;
  const std::vector<std::int64_t> row = run.read(model.row_begin);
  const std::vector<std::int32_t> variable = run.read(model.variable);
  std::int64_t reference = -1, most = -1;
  for (std::size_t site = 0; site < variable.size(); ++site) {
    const std::int64_t couplings = row[site + 1] - row[site];
    if (variable[site] < 0 || couplings <= most) continue;
    most = couplings;
    reference = variable[site];
  }
  return reference;
}

}  // namespace

const kiln::OptionTable<Options>& Options::table() {
  static const auto table = [] {
    kiln::OptionTable<Options> all;
    all.real("elite", &Options::elite, {1e-6, 0.5}, "",
             "Part of a population that is its elite: the replicas of the lowest energies.")
        .real("smoothing", &Options::smoothing, {1e-3, 1}, "",
              "How far a round moves the probabilities towards the elite; 1 is all the way.")
        .real("floor", &Options::floor, {1e-9, 0.25}, "",
              "Least probability of either value of a variable.")
        .real("converged", &Options::converged, {1e-9, 0.25}, "",
              "A probability has converged if it is that near to 0 or 1. When all have, the "
              "population begins anew.")
        .integer("patience", &Options::patience, {1, 1'000'000'000}, "rounds",
                 "Rounds in which the highest energy of an elite does not fall, after which the "
                 "population begins anew.")
        .integer("populations", &Options::populations, {1, 65536}, "",
                 "Number of populations, each with separate probabilities.");
    return all;
  }();
  return table;
}

CrossEntropy::CrossEntropy(Options options) : ScheduleOf(Options::table().checked(options)) {
  if (options_.floor <= options_.converged) return;
  throw kiln::InvalidArgument("cross_entropy.converged",
                              "no probability comes as near to 0 or 1 as 'converged' asks for",
                              "'converged' is at least 'floor'");
}

kiln::Needs CrossEntropy::needs(const kiln::Problem& problem, const kiln::Budget&) {
  resolved_ = options_;
  if (!is_of_two_values(problem.objective->space())) {
    throw kiln::InvalidArgument(
        "cross_entropy.space",
        "cross-entropy draws spins and bits, and " + problem.identity.name + " has other variables",
        "a problem of spins or binary variables");
  }
  kiln::Needs needs;
  needs.require<kiln::Evaluates>("an elite has the lowest energies");
  needs.launches<CrossEntropyComponent>();
  needs.groups = options_.populations;
  needs.default_replicas = 2048 * options_.populations;
  return needs;
}

void CrossEntropy::allocate(kiln::AllocateContext& run) {
  kiln::ReplicaBatch& batch = run.batch();
  if (batch.groups() > 1 && batch.group_size() % word_bits != 0) {
    throw kiln::InvalidArgument(
        "cross_entropy.population",
        "each of several populations has a multiple of 32 replicas, not " +
            std::to_string(batch.group_size()),
        {}, kiln::Fix::set_replicas(words_of(batch.group_size()) * word_bits * batch.groups()));
  }
  select_ = {};
  select_.energy = batch.energy();
  select_.populations =
      run.scratch("population", std::vector<Population>(static_cast<std::size_t>(batch.groups())));
  select_.elite = run.scratch_zeros<std::uint32_t>("elite", batch.slots() / word_bits);
  select_.population_size = batch.group_size();
  select_.wanted = std::max<std::int64_t>(
      1, std::llround(resolved_.elite * static_cast<double>(batch.group_size())));
  select_.patience = static_cast<std::uint64_t>(resolved_.patience);
  select_.control = run.control();
  allocate_probabilities(run);
}

void CrossEntropy::allocate_probabilities(kiln::AllocateContext& run) {
  kiln::ReplicaBatch& batch = run.batch();
  const std::int64_t variables = batch.space().variables();
  MoveProbabilities move;
  move.elite = select_.elite;
  move.populations = select_.populations;
  move.population_words = words_of(batch.group_size());
  move.smoothing = resolved_.smoothing;
  move.floor = resolved_.floor;
  move.converged = resolved_.converged;
  move.reference = reference_of(run);
  move.control = run.control();

  std::vector<double> first;
  for (std::int64_t at = 0; at < batch.groups() * variables; ++at) {
    first.push_back(move.first_probability(at % variables));
  }
  const kiln::View1<double> probability = run.scratch("probability", first);
  run.require_saved<double>("probability", [floor = move.floor](const std::vector<double>& saved) {
    return std::ranges::all_of(saved, [&](double p) { return p >= floor && p <= 1 - floor; });
  });
  move.probability = {probability.data, batch.groups(), variables, variables};

  move_.clear();
  draw_.clear();
  for (int b = 0; b < batch.n_blocks(); ++b) {
    move.block = batch.state(b);
    move_.push_back(move);
    DrawStates draw;
    draw.block = move.block;
    draw.block_number = static_cast<std::uint8_t>(b);
    draw.first_variable = move.first_variable;
    draw.probability = {probability.data, batch.groups(), variables, variables};
    draw.population_words = move.population_words;
    draw.draw_ids = batch.draw_ids();
    draw.control = run.control();
    draw_.push_back(draw);
    move.first_variable += move.block.variables;
  }
}

void CrossEntropy::enqueue(kiln::TickContext& run) {
  run.queue().launch(select_);
  for (const MoveProbabilities& move : move_) run.queue().launch(move);
  for (const DrawStates& draw : draw_) run.queue().launch(draw);
  run.evaluate(run.batch().energy(), {});
  run.finish_tick();
}

void CrossEntropy::report(kiln::ReportContext& run, kiln::Result& result) {
  std::uint64_t restarts = 0;
  for (const Population& one : run.read(select_.populations)) restarts += one.restarts;
  result.diagnostics["restarts"] = static_cast<double>(restarts);
}

kiln::ScheduleEntry schedule_entry() {
  kiln::ScheduleEntry entry;
  entry.name = "cross-entropy";
  entry.sentence = "draws states from probabilities that follow the best of a population";
  entry.fields = Options::table().fields();
  entry.make = [](const std::map<std::string, std::string>& texts) {
    return std::make_unique<CrossEntropy>(
        Options::table().parse(texts, "schedule 'cross-entropy'"));
  };
  entry.example = "gset:G1";
  return entry;
}

}  // namespace cross_entropy
