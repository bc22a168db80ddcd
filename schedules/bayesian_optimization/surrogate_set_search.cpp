// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Where the acquisitions of Bayesian optimisation are largest: candidates, then climbs from the
// best of them, for all arms at once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kiln/device/normal.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/fronts/indicators.hpp"
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"
#include "kiln/kernels/rows/gather_rows.hpp"
#include "kiln/kernels/rows/top_k.hpp"
#include "kiln/kernels/surrogate/pathwise_samples.hpp"
#include "kiln/models/minimize_batch.hpp"

#include "surrogate_set.hpp"

namespace kiln {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Reflected into [0, 1].
double reflected(double x) {
  x = std::fmod(std::abs(x), 2.0);
  return x > 1 ? 2 - x : x;
}

std::vector<const Trial*> members_of_front(const std::vector<const Trial*>& trials) {
  Points points;
  for (const Trial* trial : trials) points.push_back(trial->objectives());
  std::vector<const Trial*> members;
  for (const std::size_t i : nondominated(points)) members.push_back(trials[i]);
  return members;
}

/// Independent numbers in (0, 1) by index.
struct Numbers {
  DrawName name;
  std::uint32_t next = 0;
  double operator()() { return open_unit(draw_word(name, next++)); }
};

}  // namespace

std::vector<Point> SurrogateSet::box_of(const Study& study, std::size_t a) const {
  const auto d = static_cast<std::size_t>(encoding_.dimension());
  std::vector<Point> box{Point(d, 0.0), Point(d, 1.0)};
  const Region& region = study.regions[arms_[a].region];
  const Trial* const centre = region.best();
  if (!local() || centre == nullptr) return box;
  // Longer along axes on which the function varies slowly, of the same volume.
  const std::vector<double>& lengths = study.models[arms_[a].region].lengths;
  double logarithms = 0;
  for (const double length : lengths) logarithms += std::log(length);
  const double mean = std::exp(logarithms / static_cast<double>(lengths.size()));
  for (std::size_t k = 0; k < d; ++k) {
    const double half = 0.5 * region.side * lengths[lengths.size() == 1 ? 0 : k] / mean;
    box[0][k] = std::max(0.0, centre->point[k] - half);
    box[1][k] = std::min(1.0, centre->point[k] + half);
  }
  return box;
}

SurrogateSet::Candidates SurrogateSet::make_candidates(const std::vector<Study>& studies) {
  const std::int64_t d = encoding_.dimension();
  Candidates candidates;
  const auto arms = static_cast<std::int64_t>(arms_.size());
  const std::vector<Point>& table = designs_.table();
  candidates.count = options_.candidates > 0 ? options_.candidates
                     : local()               ? std::min<std::int64_t>(100 * d, 5000)
                                             : 4096;
  if (!table.empty()) candidates.count = static_cast<std::int64_t>(table.size());
  candidates.points.resize(static_cast<std::size_t>(arms * candidates.count * d));
  if (!table.empty()) {
    queue_.for_each_on_host(arms, [&](std::int64_t a) {
      const std::size_t arm = static_cast<std::size_t>(a);
      double* to = candidates.points.data() + a * candidates.count * d;
      for (const std::size_t i : shuffled(table.size(), arms_[arm])) {
        to = std::ranges::copy(table[i], to).out;
      }
    });
    return candidates;
  }
  std::vector<Designs::Cube> cubes;
  for (const Arm& arm : arms_) cubes.push_back({arm.study, arm.step});
  const std::vector<double> unit = designs_.unit_cubes(cubes, candidates.count);
  // One arm is worth a few threads, too.
  const std::int64_t parts = arms < 4 ? 4 : 1;
  queue_.for_each_on_host(arms * parts, [&](std::int64_t task) {
    const auto a = static_cast<std::size_t>(task / parts);
    const std::int64_t part = task % parts;
    fill_candidates(studies[arms_[a].study], a, unit.data() + task / parts * d * candidates.count,
                    candidates.count * part / parts, candidates.count * (part + 1) / parts,
                    candidates);
  });
  return candidates;
}

/// Indices below n in an order of their own for each arm and step. Categories of which nothing is
/// known have the same acquisition, and the first of equal candidates is taken.
std::vector<std::size_t> SurrogateSet::shuffled(std::size_t n, const Arm& arm) const {
  Numbers draw{{designs_.key(arm.study), arm.step, static_cast<std::uint32_t>(arm.region),
                RngDomain::choose, 48}};
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) {
    const auto j = static_cast<std::size_t>(draw() * static_cast<double>(i));
    std::swap(order[i - 1], order[std::min(j, i - 1)]);
  }
  return order;
}

/// In the whole space half of them everywhere, the others near the best few (of several objectives:
/// near all that no other dominates) at several distances.
/// In a trust region all within it, changed in some coordinates only where there are many.
/// Those from `begin` to `end`: what a candidate draws is its own.
void SurrogateSet::fill_candidates(const Study& study, std::size_t a, const double* unit,
                                   std::int64_t begin, std::int64_t end,
                                   Candidates& candidates) const {
  const auto d = static_cast<std::size_t>(encoding_.dimension());
  const auto count = static_cast<std::size_t>(candidates.count);
  const std::vector<Point> box = box_of(study, a);
  std::vector<const Trial*> best;
  for (const Trial& trial : study.regions[arms_[a].region].trials) {
    if (trial.good()) best.push_back(&trial);
  }
  if (objectives_ > 1) {
    best = members_of_front(best);
  } else {
    std::ranges::stable_sort(best, [](const Trial* x, const Trial* y) {
      return x->violation() != y->violation() ? x->violation() < y->violation()
                                              : x->value < y->value;
    });
    if (best.size() > 5) best.resize(5);
  }
  const double share = std::min(1.0, 20.0 / static_cast<double>(d));
  Numbers draw{{designs_.key(arms_[a].study), arms_[a].step,
                static_cast<std::uint32_t>(arms_[a].region), RngDomain::choose, 32}};
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    draw.next = static_cast<std::uint32_t>(i * (2 * d + 1));
    double* const to = &candidates.points[(a * count + i) * d];
    const bool near = !local() && i >= count / 2;
    const Point& base = best[near ? i % best.size() : 0]->point;
    const double sd = std::pow(10.0, -1.0 - static_cast<double>(i / best.size() % 3));
    const bool masked = share < 1 && (local() || near);
    const auto always = masked ? static_cast<std::size_t>(draw() * static_cast<double>(d)) : d;
    for (std::size_t k = 0; k < d; ++k) {
      const bool changed = !masked || k == always || draw() < share;
      const double u = unit[k * count + i];
      if (!changed) {
        to[k] = base[k];
      } else if (!near) {
        const double x = box[0][k] + u * (box[1][k] - box[0][k]);
        const bool categorical = encoding_.coordinates()[k].categorical;
        to[k] = categorical ? encoding_.place(k, u) : encoding_.snap(k, x);
      } else if (encoding_.coordinates()[k].continuous()) {
        to[k] = encoding_.snap(k, reflected(base[k] + sd * normal_quantile(u)));
      } else {
        to[k] = draw() < 2.0 / static_cast<double>(d + 1) ? encoding_.place(k, u) : base[k];
      }
    }
  }
}

std::vector<Proposal> SurrogateSet::propose(const std::vector<Study>& studies) {
  return climb(studies, find_best_candidates(make_candidates(studies)));
}

/// Only the best ones come to the host.
SurrogateSet::BestCandidates SurrogateSet::find_best_candidates(const Candidates& candidates) {
  const std::int64_t d = encoding_.dimension(), count = candidates.count;
  const auto arms = static_cast<std::int64_t>(arms_.size());
  const DeviceArray<double> at(queue_, candidates.points);
  DeviceArray<double> values(queue_, arms * count);
  AcquisitionGradient ask = kernel(count);
  ask.at = {at.data(), arms * count, d, d};
  ask.value = values.view();
  queue_.launch(ask);
  const std::int64_t k = looked_at(climbs() ? climbs_of(options_) : 0, count);
  DeviceArray<double> best(queue_, arms * k), points(queue_, arms * k * d);
  DeviceArray<std::int64_t> ids(queue_, arms * k);
  DeviceArray<std::byte> room(queue_, TopK::room_bytes(arms, count, k));
  TopK select;
  select.value = View2<const double>{values.data(), arms, count, count};
  select.largest = {best.data(), arms, k, k};
  select.column = {ids.data(), arms, k, k};
  select.rows_apart = count;
  select.room = room.view();
  queue_.launch(select);
  GatherRows gather;
  gather.table = GatherRows::bytes_of_rows(View2<const double>{at.data(), arms * count, d, d});
  gather.id = ids.view();
  gather.result = GatherRows::bytes_of_rows(View2<double>{points.data(), arms * k, d, d});
  queue_.launch(gather);
  return {k, points.download(), best.download()};
}

/// The best candidates of an arm that are not known, each with the box of its climb: coordinates
/// with levels stay where they are. Every arm has as many; those that are missing have none.
void SurrogateSet::choose_starts(const std::vector<Study>& studies, std::size_t a,
                                 const BestCandidates& candidates, std::size_t wanted,
                                 Starts& from) const {
  const auto d = static_cast<std::size_t>(encoding_.dimension());
  const auto count = static_cast<std::size_t>(candidates.count);
  const Study& study = studies[arms_[a].study];
  const std::vector<Point> box = box_of(study, a);
  std::size_t next = a * wanted;
  const auto add = [&](const double* x, double acquisition, bool moves) {
    from.acquisition[next] = acquisition;
    for (std::size_t k = 0; k < d; ++k) {
      const bool free = moves && encoding_.coordinates()[k].continuous();
      from.points[next * d + k] = x[k];
      from.lower[next * d + k] = free ? std::min(box[0][k], x[k]) : x[k];
      from.upper[next * d + k] = free ? std::max(box[1][k], x[k]) : x[k];
    }
    ++next;
  };
  const std::size_t end = next + wanted;
  for (std::size_t i = a * count; i < (a + 1) * count && next < end; ++i) {
    const double* const x = &candidates.points[i * d];
    if (!std::isfinite(candidates.values[i]) || study.knows(Point(x, x + d))) continue;
    add(x, candidates.values[i], true);
  }
  const Point& anywhere = study.regions[arms_[a].region].trials.front().point;
  while (next < end) add(anywhere.data(), minus_infinity, false);
}

/// From the best candidates.
std::vector<Proposal> SurrogateSet::climb(const std::vector<Study>& studies,
                                          const BestCandidates& candidates) {
  const auto d = static_cast<std::size_t>(encoding_.dimension());
  const std::size_t wanted = climbs() ? static_cast<std::size_t>(climbs_of(options_)) : 1;
  Starts from(arms_.size() * wanted, d);
  queue_.for_each_on_host(static_cast<std::int64_t>(arms_.size()), [&](std::int64_t a) {
    choose_starts(studies, static_cast<std::size_t>(a), candidates, wanted, from);
  });
  std::vector<double> ends = from.points, reached = from.acquisition;
  if (climbs()) {
    BatchedMinimizer minimizer(queue_, encoding_.dimension(), from.points, from.lower, from.upper);
    minimizer.step().sign = -1;
    minimizer.step().first_step = 0.1;
    minimizer.step().max_iterations = 40;
    minimizer.step().value_tolerance = 1e-8;
    AcquisitionGradient ask = kernel(static_cast<std::int64_t>(wanted));
    ask.at = minimizer.trial();
    ask.value = minimizer.value();
    ask.gradient = minimizer.gradient();
    ask.running = minimizer.running();
    minimizer.run(60, [&] { queue_.launch(ask); });
    ends = minimizer.points();
    reached = minimizer.values();
  }
  std::vector<Proposal> proposals(arms_.size());
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    const Study& study = studies[arms_[a].study];
    for (std::size_t i = a * wanted; i < (a + 1) * wanted; ++i) {
      Proposal& best = proposals[a];
      if (from.acquisition[i] == minus_infinity || !std::isfinite(reached[i])) continue;
      if (best.found && reached[i] <= best.acquisition) continue;
      double acquisition = reached[i];
      Point end = encoding_.snapped(Point(&ends[i * d], &ends[i * d] + d));
      if (study.knows(end)) {
        end.assign(&from.points[i * d], &from.points[i * d] + d);
        acquisition = from.acquisition[i];
        if (best.found && acquisition <= best.acquisition) continue;
      }
      best = {std::move(end), acquisition, true};
    }
    // Improvements are compared between arms of a study in units of its values.
    if (objectives_ > 1) continue;
    if (options_.acquisition == "logei" || options_.acquisition == "qlogei") {
      proposals[a].acquisition +=
          std::log(process_->scale(static_cast<std::int64_t>(a) * outputs()).scale);
    }
  }
  return proposals;
}

std::vector<std::vector<Proposal>> SurrogateSet::draw(const std::vector<Study>& studies,
                                                      std::int64_t count) {
  const std::int64_t d = encoding_.dimension();
  const auto sets = static_cast<std::int64_t>(arms_.size()) * outputs();
  const Candidates candidates = make_candidates(studies);
  const std::int64_t m = candidates.count;
  // Paths want points with coordinates side by side, a copy for each process.
  std::vector<double> columns(static_cast<std::size_t>(sets * d * m));
  std::vector<std::uint64_t> keys;
  for (std::int64_t set = 0; set < sets; ++set) {
    const std::int64_t a = set / outputs();
    const Arm& arm = arms_[static_cast<std::size_t>(a)];
    keys.push_back(designs_.key(arm.study) + (arm.step << 20) + (arm.region << 8) +
                   static_cast<std::uint64_t>(set % outputs()));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t k = 0; k < d; ++k) {
        columns[static_cast<std::size_t>((set * d + k) * m + i)] =
            candidates.points[static_cast<std::size_t>((a * m + i) * d + k)];
      }
    }
  }
  const std::vector<double> values = process_->draw_paths(columns, m, count, keys);
  std::vector<std::vector<Proposal>> all(arms_.size());
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    const Study& study = studies[arms_[a].study];
    std::vector<Point> taken;
    for (std::int64_t path = 0; path < count; ++path) {
      // The least value where all constraints are met, else the least violation.
      Proposal best;
      double min_violation = 0, least = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        const auto at = [&](int o) {
          return values[static_cast<std::size_t>(
              ((static_cast<std::int64_t>(a) * outputs() + o) * count + path) * m + i)];
        };
        double violation = 0;
        for (int o = 1; o < outputs(); ++o) violation += std::max(0.0, at(o));
        if (best.found &&
            (violation > min_violation || (violation == min_violation && at(0) >= least))) {
          continue;
        }
        const double* const x =
            &candidates.points[(a * static_cast<std::size_t>(m) + static_cast<std::size_t>(i)) *
                               static_cast<std::size_t>(d)];
        Point point(x, x + d);
        if (study.knows(point) || std::ranges::find(taken, point) != taken.end()) continue;
        min_violation = violation, least = at(0);
        best = {std::move(point), violation > 0 ? -1e300 - violation : -least, true};
      }
      if (best.found) taken.push_back(best.point);
      all[a].push_back(std::move(best));
    }
  }
  return all;
}

}  // namespace kiln
