// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/archive.hpp"
#include "kiln/backend.hpp"
#include "kiln/bayesian_optimizer.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/errors.hpp"

#include "checks.hpp"
#include "search.hpp"

namespace kiln {

struct BayesianOptimizer::Impl {
  OpenedBackend opened;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<BayesianSearch> search;
  std::vector<std::size_t> study_of;  // of the ids that were given
};

BayesianOptimizer::BayesianOptimizer(BayesianProblem problem, BayesianOptimizationOptions options,
                                     std::uint64_t seed, const std::string& device)
    : impl_(std::make_unique<Impl>()) {
  check_options(options);
  if (problem.space.outputs() != 1) {
    throw InvalidArgument("search.outputs",
                          "the problem has " + std::to_string(problem.space.outputs()) +
                              " objectives, but tell() takes one value",
                          "run the schedule bayesian-front");
  }
  impl_->opened = open_backend(device);
  impl_->queue = impl_->opened.backend->make_queue();
  impl_->search = std::make_unique<BayesianSearch>(*impl_->queue, problem, options,
                                                   keys_of_groups(seed, options.studies));
}

BayesianOptimizer::~BayesianOptimizer() = default;
BayesianOptimizer::BayesianOptimizer(BayesianOptimizer&&) noexcept = default;
BayesianOptimizer& BayesianOptimizer::operator=(BayesianOptimizer&&) noexcept = default;

std::vector<Suggestion> BayesianOptimizer::ask(std::int64_t count, std::int64_t study) {
  if (count < 1) throw InvalidArgument("search.count", "ask() needs a count of at least 1");
  const auto s = static_cast<std::size_t>(study);
  impl_->search->study(s);  // refuses what is not there
  std::vector<Suggestion> all;
  const std::vector<std::vector<Trial>> found = impl_->search->suggest({s}, count);
  if (found.front().empty()) {
    throw InvalidArgument("search.exhausted",
                          "ask() has no new point: every point of the space is known",
                          "the best point found is the best point of the space");
  }
  for (const Trial& trial : found.front()) {
    all.push_back({trial.id, impl_->search->encoding().decode(trial.point)});
    impl_->study_of.resize(static_cast<std::size_t>(trial.id) + 1, s);
  }
  return all;
}

void BayesianOptimizer::tell(std::int64_t id, double value,
                             const std::vector<double>& constraints) {
  const auto at = static_cast<std::size_t>(id);
  const bool known = id > 0 && at < impl_->study_of.size();
  impl_->search->tell(known ? impl_->study_of[at] : 0, id, value, constraints);
}

void BayesianOptimizer::add(const State& state, double value,
                            const std::vector<double>& constraints, std::int64_t study) {
  impl_->search->encoding().check(state);
  impl_->search->study(static_cast<std::size_t>(study));
  impl_->search->add(static_cast<std::size_t>(study), impl_->search->encoding().encode(state),
                     value, constraints);
}

std::int64_t BayesianOptimizer::pending(std::int64_t study) const {
  return static_cast<std::int64_t>(
      impl_->search->study(static_cast<std::size_t>(study)).pending.size());
}

std::int64_t BayesianOptimizer::evaluations(std::int64_t study) const {
  return impl_->search->study(static_cast<std::size_t>(study)).evaluations;
}

bool BayesianOptimizer::has_best(std::int64_t study) const {
  return impl_->search->study(static_cast<std::size_t>(study)).best.has_value();
}

double BayesianOptimizer::best_value(std::int64_t study) const {
  const Study& of = impl_->search->study(static_cast<std::size_t>(study));
  if (!of.best) throw InvalidArgument("search.best", "tell() has received no feasible value yet");
  return of.best->value;
}

State BayesianOptimizer::best_state(std::int64_t study) const {
  best_value(study);
  return impl_->search->encoding().decode(
      impl_->search->study(static_cast<std::size_t>(study)).best->point);
}

StudyModel BayesianOptimizer::model(std::int64_t study) const {
  return impl_->search->study(static_cast<std::size_t>(study)).models.front();
}

std::vector<double> BayesianOptimizer::state() const {
  Archive archive;
  impl_->search->save(archive);
  return archive.get<double>(BayesianSearch::section);
}

void BayesianOptimizer::restore(const std::vector<double>& state) {
  Archive archive;
  archive.put(BayesianSearch::section, state);
  impl_->search->load(archive);
  impl_->study_of.clear();
  for (std::size_t s = 0; s < impl_->search->studies(); ++s) {
    for (const Trial& trial : impl_->search->study(s).pending) {
      const auto at = static_cast<std::size_t>(trial.id);
      impl_->study_of.resize(std::max(impl_->study_of.size(), at + 1));
      impl_->study_of[at] = s;
    }
  }
}

}  // namespace kiln
