// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "selection.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kiln/fronts/indicators.hpp"
#include "kiln/kernels/fronts/decomposition_update.hpp"
#include "kiln/kernels/fronts/drop_least_contributors.hpp"
#include "kiln/kernels/fronts/hypervolume.hpp"
#include "kiln/kernels/fronts/niche_scores.hpp"
#include "kiln/kernels/fronts/reference_association.hpp"

#include "fronts/frame.hpp"
#include "shared/arrays.hpp"

namespace kiln {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// One contribution after the other is exact; beyond this many rounds several go at once.
constexpr std::int64_t max_rounds = 128;

View2<double> upload_directions(AllocateContext& run, const Points& directions) {
  std::vector<double> rows;
  for (std::size_t k = 0; k < directions.front().size(); ++k) {
    for (const std::vector<double>& direction : directions) rows.push_back(direction[k]);
  }
  const auto m = static_cast<std::int64_t>(directions.front().size());
  const auto n = static_cast<std::int64_t>(directions.size());
  return {run.scratch("directions", rows).data, m, n, n};
}

class CrowdingSelection final : public Selection {
 public:
  void survive(RunContext& run, const Pool& pool) const override {
    pool.rank_points(run);
    pool.crowd(run);
    pool.select(run);
  }
};

class NicheSelection final : public Selection {
 public:
  explicit NicheSelection(Points directions) : directions_(std::move(directions)) {}

  void allocate(AllocateContext& run, const Pool& pool) override {
    frame_.allocate(run, pool);
    direction_ = upload_directions(run, directions_);
    const std::int64_t counts = pool.islands * direction_.columns;
    line_ = run.scratch_zeros<std::int32_t>("niche.line", pool.columns());
    distance_ = run.scratch_zeros<double>("niche.distance", pool.columns());
    taken_ = run.scratch_zeros<std::int32_t>("niche.taken", counts);
    left_ = run.scratch_zeros<std::int32_t>("niche.left", counts);
  }
  void survive(RunContext& run, const Pool& pool) const override {
    pool.rank_points(run);
    frame_.update(run, pool, true);
    ReferenceAssociation nearest;
    nearest.value = pool.points().value;
    nearest.groups = pool.groups();
    nearest.ideal = read_only(frame_.ideal);
    nearest.nadir = read_only(frame_.nadir);
    nearest.direction = read_only(direction_);
    nearest.line = line_;
    nearest.distance = distance_;
    nearest.control = run.control();
    run.queue().launch(nearest);
    NicheScores scores;
    scores.groups = pool.groups();
    scores.keep = pool.residents;
    scores.rank = pool.rank;
    scores.line = line_;
    scores.distance = distance_;
    scores.lines = direction_.columns;
    scores.score = pool.score;
    scores.taken = taken_;
    scores.left = left_;
    scores.key = run.batch().draw_ids().key;
    scores.group_slots = run.batch().group_size();
    scores.control = run.control();
    run.queue().launch(scores);
    pool.select(run);
  }

 private:
  Points directions_;
  Frame frame_;
  View2<double> direction_;
  View1<std::int32_t> line_, taken_, left_;
  View1<double> distance_;
};

class ContributionSelection final : public Selection {
 public:
  void allocate(AllocateContext& run, const Pool& pool) override {
    front_ = make_matrix(run, "volume.front", pool.objectives, pool.columns(), infinity);
    contribution_ = run.scratch_zeros<double>("volume.contribution", pool.columns());
    volume_ = run.scratch_zeros<double>("volume.volume", pool.islands);
    excess_ = run.scratch_zeros<std::int32_t>("volume.excess", pool.islands);
    far_ = run.scratch("volume.reference", filled(pool.objectives, DropLeastContributors::far));
    scratch_ = run.scratch_zeros<std::byte>(
        "volume.scratch",
        Hypervolume::scratch_bytes(pool.groups(), pool.columns(), pool.objectives));
  }
  void survive(RunContext& run, const Pool& pool) const override {
    pool.rank_points(run);
    DropLeastContributors drop;
    drop.value = pool.points().value;
    drop.groups = pool.groups();
    drop.rank = pool.rank;
    drop.keep = pool.residents;
    drop.front = front_;
    drop.contribution = contribution_;
    drop.score = pool.score;
    drop.excess = excess_;
    drop.control = run.control();
    run.queue().launch(drop);
    Hypervolume volume;
    volume.value = read_only(front_);
    volume.groups = pool.groups();
    volume.reference = far_;
    volume.volume = volume_;
    volume.contribution = contribution_;
    volume.scratch = scratch_;
    volume.control = run.control();
    drop.begin = false;
    for (std::int64_t left = std::min(pool.newcomers, max_rounds); left > 0; --left) {
      run.queue().launch(volume);
      drop.rounds_left = left;
      run.queue().launch(drop);
    }
    pool.select(run);
  }

 private:
  View2<double> front_;
  View1<double> contribution_, volume_, far_;
  View1<std::int32_t> excess_;
  View1<std::byte> scratch_;
};

/// For each direction the nearest ones, itself first: [neighbour][direction].
std::vector<std::int32_t> nearest_directions(const Points& directions, std::int64_t count) {
  const std::size_t n = directions.size();
  std::vector<std::int32_t> nearest(static_cast<std::size_t>(count) * n);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::pair<double, std::int32_t>> by_distance;
    for (std::size_t j = 0; j < n; ++j) {
      double square = 0;
      for (std::size_t k = 0; k < directions[i].size(); ++k) {
        const double d = directions[i][k] - directions[j][k];
        square += d * d;
      }
      by_distance.emplace_back(j == i ? -1 : square, static_cast<std::int32_t>(j));
    }
    std::partial_sort(by_distance.begin(), by_distance.begin() + count, by_distance.end());
    for (std::size_t t = 0; t < static_cast<std::size_t>(count); ++t) {
      nearest[t * n + i] = by_distance[t].second;
    }
  }
  return nearest;
}

ScalarizationKind kind_of(const std::string& decomposition) {
  if (decomposition == "augmented") return ScalarizationKind::augmented_chebyshev;
  if (decomposition == "weighted-sum") return ScalarizationKind::weighted_sum;
  if (decomposition == "boundary-intersection") return ScalarizationKind::boundary_intersection;
  return ScalarizationKind::chebyshev;
}

class DecompositionSelection final : public Selection {
 public:
  DecompositionSelection(const EvolutionaryOptions& options, Points directions)
      : options_(options), directions_(std::move(directions)) {}

  void allocate(AllocateContext& run, const Pool& pool) override {
    frame_.allocate(run, pool);
    weight_ = upload_directions(run, directions_);
    const auto n = static_cast<std::int64_t>(directions_.size());
    const std::int64_t count = std::min(options_.neighbors, n);
    neighbors_ = {run.scratch("neighbors", nearest_directions(directions_, count)).data, count, n,
                  n};
    const std::int64_t children = pool.islands * pool.newcomers;
    constexpr std::int64_t rows = DecompositionUpdate::max_replacements;
    bids_ = {run.scratch_zeros<std::int32_t>("bids", rows * children).data, rows, children,
             children};
  }
  void choose_by(SelectParents& kernel, const Pool&) const override {
    kernel.neighbors = read_only(neighbors_);
    kernel.neighbor_share = options_.neighbor_share;
  }
  void survive(RunContext& run, const Pool& pool) const override {
    pool.rank_points(run);
    frame_.update(run, pool, false);
    DecompositionUpdate kernel;
    kernel.groups = pool.groups();
    kernel.value = pool.value;
    kernel.violation = pool.violation;
    kernel.weight = read_only(weight_);
    kernel.neighbors = read_only(neighbors_);
    kernel.ideal = read_only(frame_.ideal);
    kernel.nadir = read_only(frame_.nadir);
    kernel.scalarization.kind = kind_of(options_.decomposition);
    kernel.replacements = static_cast<std::int32_t>(options_.replacements);
    kernel.bids = bids_;
    kernel.source = pool.source;
    kernel.accepted = run.batch().accepted();
    kernel.control = run.control();
    run.queue().launch(kernel);
    // Residents changed, and front and result are read off their ranks.
    pool.rank_points(run);
  }

 private:
  EvolutionaryOptions options_;
  Points directions_;
  Frame frame_;
  View2<double> weight_;
  View2<std::int32_t> neighbors_, bids_;
};

}  // namespace

void Selection::choose_by(SelectParents& kernel, const Pool& pool) const {
  kernel.rank = pool.rank;
  kernel.score = pool.score;
}

bool uses_directions(const EvolutionaryOptions& options) {
  return options.strategy == "nsga3" || options.strategy == "moead";
}

Points directions_of(const EvolutionaryOptions& options, int objectives) {
  if (!uses_directions(options)) return {};
  return reference_directions(objectives, options.population > 0 ? options.population : 100);
}

std::unique_ptr<Selection> make_selection(const EvolutionaryOptions& options,
                                          const Points& directions) {
  if (options.strategy == "nsga3") return std::make_unique<NicheSelection>(directions);
  if (options.strategy == "sms-emoa") return std::make_unique<ContributionSelection>();
  if (options.strategy == "moead") {
    return std::make_unique<DecompositionSelection>(options, directions);
  }
  return std::make_unique<CrowdingSelection>();
}

}  // namespace kiln
