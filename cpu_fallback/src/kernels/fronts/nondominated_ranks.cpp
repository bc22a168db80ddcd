// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/nondominated_ranks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// The points of a group in an order in which none dominates one before it, one row of values each.
class SortedGroup {
 public:
  SortedGroup(const ObjectivePoints& points, std::int64_t group)
      : begin_(points.groups.begin(group)), width_(idx(points.objectives())) {
    const auto count = idx(points.groups.count(group));
    key_.resize(count);
    value_.resize(count * width_);
    for (std::size_t p = 0; p < count; ++p) {
      const std::int64_t column = begin_ + static_cast<std::int64_t>(p);
      key_[p] = points.first_key(column);
      for (std::size_t k = 0; k < width_; ++k) {
        value_[p * width_ + k] = points.value(static_cast<std::int64_t>(k), column);
      }
    }
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) { return before(a, b); });
  }

  std::size_t size() const { return order_.size(); }
  std::int64_t column(std::size_t place) const {
    return begin_ + static_cast<std::int64_t>(order_[place]);
  }
  std::uint64_t key(std::size_t place) const { return key_[order_[place]]; }
  double value(std::size_t place, std::size_t k) const { return row(order_[place])[k]; }
  /// Whether two places hold equal points, or points that are equal by their keys alone.
  bool equal(std::size_t a, std::size_t b) const {
    return !before(order_[a], order_[b]) && !before(order_[b], order_[a]);
  }
  /// Whether the feasible point at place a, which comes before b and differs from it, dominates b.
  bool dominates(std::size_t a, std::size_t b) const {
    const double *x = row(order_[a]), *y = row(order_[b]);
    for (std::size_t k = 1; k < width_; ++k) {
      if (x[k] > y[k]) return false;
    }
    return true;
  }

 private:
  static std::size_t idx(std::int64_t i) { return static_cast<std::size_t>(i); }
  const double* row(std::size_t p) const { return value_.data() + p * width_; }
  bool before(std::size_t a, std::size_t b) const {
    if (key_[a] != key_[b]) return key_[a] < key_[b];
    if (key_[a] != 0) return false;
    return std::lexicographical_compare(row(a), row(a) + width_, row(b), row(b) + width_);
  }

  std::int64_t begin_;
  std::size_t width_;
  std::vector<std::uint64_t> key_;
  std::vector<double> value_;
  std::vector<std::size_t> order_;
};

// Fronts of two objectives: the least second value of each rises from front to front, and a point
// is dominated by some point of a front just if that value is not greater than its own.
class Staircase {
 public:
  explicit Staircase(const SortedGroup& group) : group_(group) {}
  std::size_t insert(std::size_t place) {
    const double y = group_.value(place, 1);
    const auto at = std::upper_bound(least_.begin(), least_.end(), y);
    const auto front = static_cast<std::size_t>(at - least_.begin());
    if (at == least_.end()) {
      least_.push_back(y);
    } else {
      *at = y;
    }
    return front;
  }
  std::size_t fronts() const { return least_.size(); }

 private:
  const SortedGroup& group_;
  std::vector<double> least_;
};

// Fronts of three objectives. Of the points of a front only those count that no other one beats in
// the second and the third value: a staircase, third value by second, in which the last step up to
// a point tells whether the front has a dominator of it.
class Staircases {
 public:
  explicit Staircases(const SortedGroup& group) : group_(group) {}
  std::size_t insert(std::size_t place) {
    const double y = group_.value(place, 1), z = group_.value(place, 2);
    const auto at = std::partition_point(
        steps_.begin(), steps_.end(), [&](const Steps& front) { return dominates(front, y, z); });
    const auto front = static_cast<std::size_t>(at - steps_.begin());
    if (at == steps_.end()) steps_.emplace_back();
    Steps& steps = steps_[front];
    auto beaten = steps.lower_bound(y);
    while (beaten != steps.end() && beaten->second >= z) beaten = steps.erase(beaten);
    steps.emplace_hint(beaten, y, z);
    return front;
  }
  std::size_t fronts() const { return steps_.size(); }

 private:
  using Steps = std::map<double, double>;
  static bool dominates(const Steps& front, double y, double z) {
    const auto next = front.upper_bound(y);
    return next != front.begin() && std::prev(next)->second <= z;
  }
  const SortedGroup& group_;
  std::vector<Steps> steps_;
};

// Fronts of any number of objectives, found by bisection: where a front has a dominator of a point,
// so has every front before it.
class Fronts {
 public:
  explicit Fronts(const SortedGroup& group) : group_(group) {}
  std::size_t insert(std::size_t place) {
    std::size_t low = 0, high = members_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (has_dominator(middle, place)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == members_.size()) members_.emplace_back();
    members_[low].push_back(place);
    return low;
  }
  std::size_t fronts() const { return members_.size(); }

 private:
  bool has_dominator(std::size_t front, std::size_t place) const {
    const std::vector<std::size_t>& all = members_[front];
    return std::any_of(all.rbegin(), all.rend(),  // the last are nearest
                       [&](std::size_t other) { return group_.dominates(other, place); });
  }
  const SortedGroup& group_;
  std::vector<std::vector<std::size_t>> members_;
};

struct Counts {
  std::int32_t fronts = 0, unranked = 0;
};

template <class Structure>
Counts rank_group(const NondominatedRanks& kernel, const SortedGroup& group) {
  Structure structure(group);
  Counts counts;
  std::size_t place = 0;
  for (; place < group.size() && group.key(place) == 0; ++place) {
    const bool again = place > 0 && group.equal(place - 1, place);
    kernel.rank[group.column(place)] = again ? kernel.rank[group.column(place - 1)]
                                             : static_cast<std::int32_t>(structure.insert(place));
  }
  counts.fronts = static_cast<std::int32_t>(structure.fronts());
  const std::size_t first_infeasible = place;
  for (; place < group.size() && group.key(place) != ObjectivePoints::key_of_nan; ++place) {
    if (place == first_infeasible || !group.equal(place - 1, place)) ++counts.fronts;
    kernel.rank[group.column(place)] = counts.fronts - 1;
  }
  for (; place < group.size(); ++place) {
    kernel.rank[group.column(place)] = NondominatedRanks::no_front;
    ++counts.unranked;
  }
  return counts;
}

}  // namespace

template <>
void launch(const NondominatedRanks& kernel, Queue& queue) {
  if (!kernel.active()) return;
  pool_of(queue).for_each(kernel.points.groups.groups, [&](std::int64_t g) {
    const SortedGroup group(kernel.points, g);
    const std::int64_t objectives = kernel.points.objectives();
    // Fronts of few points are searched sooner than trees are built.
    const bool large = group.size() > 512;
    const Counts counts = objectives == 2            ? rank_group<Staircase>(kernel, group)
                          : objectives == 3 && large ? rank_group<Staircases>(kernel, group)
                                                     : rank_group<Fronts>(kernel, group);
    if (kernel.fronts) kernel.fronts[g] = counts.fronts;
    if (kernel.unranked) kernel.unranked[g] = counts.unranked;
  });
}

}  // namespace kiln::cpu
