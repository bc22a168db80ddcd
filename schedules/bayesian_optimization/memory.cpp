// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How much memory the models of Bayesian optimisation come to, before there are any.
#include "memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/kernels/linear_algebra/lbfgs_step.hpp"
#include "kiln/kernels/rows/top_k.hpp"
#include "kiln/kernels/surrogate/evidence_gradient.hpp"
#include "kiln/models/gaussian_process.hpp"

#include "checks.hpp"
#include "search.hpp"

namespace kiln {
namespace {

/// Sizes in numbers of eight bytes, as GaussianProcess and SurrogateSet allocate them.
struct Sizes {
  std::int64_t dimension = 1, parameters = 1;
  std::int64_t arms = 1, processes = 1;
  std::int64_t points = 1;  // of a process
  std::int64_t lists = 1, batch = 1;
  std::int64_t candidates = 1, best = 1, starts = 1, cells = 0;
  std::int64_t max_restarts = 8;

  /// What processes of n points keep: points, targets, three matrices, weights, diagonals, units.
  std::int64_t kept(std::int64_t n) const {
    return processes * (n * (dimension + 2 * lists + 2 + 3 * n) + parameters + 2) + n * n;
  }
  /// A batch of L-BFGS in n variables.
  static std::int64_t minimizer(std::int64_t items, std::int64_t n) {
    constexpr auto state = static_cast<std::int64_t>(sizeof(LbfgsState) / sizeof(double) + 1);
    return items * (7 * n + LbfgsStep::pair_size(n) + state + 4);
  }
  /// Evaluations of the evidence of `items` vectors of hyper-parameters.
  std::int64_t evidence(std::int64_t items, std::int64_t n) const {
    if (n <= EvidenceGradient::resident) return 2 * items;
    EvidenceGradient kernel;
    kernel.points.points = n;
    kernel.dimension = dimension;
    return items * (3 * n * n + kernel.work_size() + 3);
  }
  /// A fit, which takes fewer points of large processes, and the judgement of its end.
  std::int64_t fit(std::int64_t n, std::int64_t most) const {
    const std::int64_t m = std::min(n, most);
    const std::int64_t restarts =
        n > EvidenceGradient::resident ? std::min<std::int64_t>(max_restarts, 2) : max_restarts;
    const std::int64_t items = processes * restarts;
    const std::int64_t at_once = std::clamp<std::int64_t>(
        (std::int64_t{1} << 28) / std::max<std::int64_t>(1, 3 * m * m * restarts), 1, processes);
    const std::int64_t apart = n > most ? kept(m) : 0;
    const std::int64_t fitted =
        apart + minimizer(items, parameters) + evidence(at_once * restarts, m);
    return std::max(fitted, evidence(processes, n));
  }
  /// Candidates with their values, and the best of them; then climbs from those.
  std::int64_t search() const {
    const std::int64_t asked = arms * candidates * (dimension + 1);
    const std::int64_t found =
        arms * best * (dimension + 2) + TopK::room_bytes(arms, candidates, best) / std::int64_t{8};
    return std::max(asked + found, minimizer(arms * starts, dimension)) + arms * (lists + 2) +
           processes;
  }
  /// Functions that are drawn from the models at all candidates.
  std::int64_t paths(std::int64_t n) const {
    return processes * (n + candidates * dimension + batch * (n + candidates) + 5);
  }
  /// Means at the points that are known.
  std::int64_t means(std::int64_t n) const { return arms * n * dimension + processes * n * lists; }
};

/// Of a finite space, beyond which no study grows.
std::int64_t points_of(const BayesianProblem& problem) {
  constexpr auto many = std::numeric_limits<std::int64_t>::max();
  if (problem.candidates) return static_cast<std::int64_t>(problem.candidates->size());
  double points = 1;
  for (const Block& block : problem.space.blocks()) {
    const double values = block.kind == BlockKind::spin ? 2 : block.upper - block.lower + 1;
    const bool counted = block.kind != BlockKind::real && block.kind != BlockKind::permutation;
    if (!counted) return many;
    points *= std::pow(values, static_cast<double>(block.count));
  }
  return points < 0x1p62 ? static_cast<std::int64_t>(points) : many;
}

std::int64_t cells_of(std::int64_t n, int objectives) {
  if (objectives < 2) return 0;
  return (objectives == 2 ? n + 1 : objectives == 3 ? 2 * n + 1 : n * n) * objectives;
}

}  // namespace

std::int64_t planned_observations(const Budget& budget, std::int64_t batches, std::int64_t batch) {
  // Models of more fit nowhere, and their sizes must not overflow.
  constexpr std::int64_t most = 1000000, max_beside_limits = 5000;
  const std::int64_t wanted =
      std::min(budget.sweeps.value_or(batches), most) * std::min(batch, most);
  const bool ends_earlier =
      budget.sweeps && (budget.time_limit_s || budget.target || budget.stop_when);
  return std::min(wanted, ends_earlier ? std::max(max_beside_limits, batch) : most);
}

void count_search(Queue& queue, const BayesianProblem& problem,
                  const BayesianOptimizationOptions& options,
                  const std::vector<std::uint64_t>& keys, std::int64_t observations) {
  const BayesianSearch search(queue, problem, options, keys);
  const Encoding& encoding = search.encoding();
  const BayesianOptimizationOptions o = resolved(options, encoding, problem.space.outputs());
  const std::int64_t d = encoding.dimension();
  const auto preset = GaussianProcessOptions::preset("weak", d);
  const GaussianProcess axes(queue, d, preset, encoding.categorical(), encoding.similarity());
  const std::int64_t regions = std::max<std::int64_t>(1, o.trust_regions);
  const int objectives = problem.space.outputs();
  observations = std::min(observations, points_of(problem));
  Sizes s;
  s.dimension = d;
  s.parameters = (o.lengths == "axis" ? d : 1) + 3;
  s.arms = static_cast<std::int64_t>(keys.size()) * regions;
  s.processes = s.arms * (objectives + problem.constraints);
  s.points = std::max<std::int64_t>(1, observations - (regions - 1) * search.design_size());
  if (o.acquisition == "qlogei" && o.batch > 1) s.lists = o.fantasies > 0 ? o.fantasies : 32;
  s.batch = o.batch;
  s.candidates = problem.candidates ? static_cast<std::int64_t>(problem.candidates->size())
                 : o.candidates > 0 ? o.candidates
                 : regions > 1      ? std::min<std::int64_t>(100 * d, 5000)
                                    : 4096;
  s.starts = SurrogateSet::climbs_of(o);
  const bool climbs = encoding.any_continuous() && !problem.candidates;
  s.best = SurrogateSet::looked_at(climbs ? s.starts : 0, s.candidates);
  s.cells = s.arms * 2 * cells_of(s.points, objectives);
  if (o.restarts > 0) s.max_restarts = o.restarts;
  const bool draws = o.acquisition == "thompson";
  const std::int64_t asks = std::max(draws ? s.paths(s.points) : s.search(), s.means(s.points));
  const std::int64_t most = std::max(s.fit(s.points, preset.fit_points), asks) + s.cells;
  const auto bytes = (s.kept(s.points) + most) * static_cast<std::int64_t>(sizeof(double));
  const DeviceArray<std::byte> models(queue, bytes);
}

}  // namespace kiln
