// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/fronts/indicators.hpp"

namespace kiln {
namespace {

/// By how much points are better than the reference, [point][objective]: all positive, so that a
/// point dominates the box between 0 and itself.
class Gains {
 public:
  explicit Gains(std::size_t objectives = 1) : objectives_(objectives) {}

  std::size_t objectives() const { return objectives_; }
  std::size_t size() const { return values_.size() / objectives_; }
  const double* operator[](std::size_t i) const { return values_.data() + i * objectives_; }

  void clear(std::size_t objectives) {
    objectives_ = objectives;
    values_.clear();
  }
  void append(const double* gain) { values_.insert(values_.end(), gain, gain + objectives_); }

  /// What two boxes have in common is the box of their lesser coordinates.
  void append_common(const double* a, const double* b) {
    for (std::size_t k = 0; k < objectives_; ++k) values_.push_back(std::min(a[k], b[k]));
  }

  /// Whether box a holds box b.
  bool holds(const double* a, const double* b) const {
    for (std::size_t k = 0; k < objectives_; ++k) {
      if (a[k] < b[k]) return false;
    }
    return true;
  }

  /// Takes the last box out if another holds it, else those that it holds.
  void tidy_up_last() {
    const std::size_t last = size() - 1;
    for (std::size_t i = 0; i < last; ++i) {
      if (holds((*this)[i], (*this)[last])) return values_.resize(last * objectives_);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i <= last; ++i) {
      if (i < last && holds((*this)[last], (*this)[i])) continue;
      if (kept != i) std::copy_n((*this)[i], objectives_, values_.data() + kept * objectives_);
      ++kept;
    }
    values_.resize(kept * objectives_);
  }

 private:
  std::size_t objectives_;
  std::vector<double> values_;
};

double box_volume(const double* gain, std::size_t objectives) {
  return std::accumulate(gain, gain + objectives, 1.0, std::multiplies<>());
}

using Pair = std::array<double, 2>;
using Triple = std::array<double, 3>;

/// The union of boxes in a plane as a falling staircase, to which boxes are added. Areas are sums
/// of strips, so that nothing cancels.
class Staircase {
 public:
  void clear() { steps_.clear(); }

  /// The area by which the union grows.
  double add(double x, double y) {
    const auto behind = std::lower_bound(steps_.begin(), steps_.end(), x,
                                         [](const Pair& step, double at) { return step[0] < at; });
    double height = behind == steps_.end() ? 0 : (*behind)[1];
    if (height >= y) return 0;
    const auto last = behind != steps_.end() && (*behind)[0] == x ? behind + 1 : behind;
    auto first = behind;
    double area = 0;
    double right = x;
    for (; first != steps_.begin() && (*(first - 1))[1] <= y; --first) {
      const auto [step_x, step_y] = *(first - 1);
      area += (right - step_x) * (y - height);
      right = step_x;
      height = step_y;
    }
    area += (right - (first == steps_.begin() ? 0 : (*(first - 1))[0])) * (y - height);
    replace(first, last, {x, y});
    return area;
  }

 private:
  using Place = std::vector<Pair>::iterator;

  void replace(Place first, Place last, const Pair& step) {
    if (first == last) {
      steps_.insert(first, step);
    } else {
      *first = step;
      steps_.erase(first + 1, last);
    }
  }

  std::vector<Pair> steps_;  // x ascends, y descends
};

/// Volumes of unions of boxes. Memory is kept from call to call.
class UnionVolume {
 public:
  double of(const Gains& boxes) {
    if (boxes.size() == 0) return 0;
    switch (boxes.objectives()) {
      case 1:
        return *std::max_element(boxes[0], boxes[0] + boxes.size());
      case 2:
        return in_plane(boxes);
      case 3:
        return in_space(boxes);
      default:
        return by_recursion(boxes);
    }
  }

  /// What the union loses without box i, which must be finite.
  double without(const Gains& boxes, std::size_t i) {
    Gains common(boxes.objectives());
    for (std::size_t j = 0; j < boxes.size(); ++j) {
      if (j == i) continue;
      if (boxes.holds(boxes[j], boxes[i])) return 0;
      common.append_common(boxes[i], boxes[j]);
      if (boxes.objectives() > 3) common.tidy_up_last();
    }
    return std::max(box_volume(boxes[i], boxes.objectives()) - of(common), 0.0);
  }

 private:
  /// Sweeps the last of N coordinates downwards. What has been sorted before is not sorted again:
  /// common boxes of a sorted set are sorted.
  template <std::size_t N>
  static void sort_by_last(const Gains& boxes, std::vector<std::array<double, N>>& sorted) {
    sorted.resize(boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) std::copy_n(boxes[i], N, sorted[i].begin());
    const auto higher = [](const auto& a, const auto& b) { return a[N - 1] > b[N - 1]; };
    if (!std::is_sorted(sorted.begin(), sorted.end(), higher)) {
      std::sort(sorted.begin(), sorted.end(), higher);
    }
  }

  double in_plane(const Gains& boxes) {
    sort_by_last(boxes, pairs_);
    double area = 0, width = 0;
    for (const auto& [x, y] : pairs_) {
      if (x <= width) continue;
      area += (x - width) * y;
      width = x;
    }
    return area;
  }

  double in_space(const Gains& boxes) {
    sort_by_last(boxes, triples_);
    stairs_.clear();
    double volume = 0, area = 0, level = 0;
    for (const auto& [x, y, z] : triples_) {
      volume += area * (level - z);
      level = z;
      area += stairs_.add(x, y);
    }
    return volume + area * level;
  }

  /// Adds up what each box adds to those that are higher in the last coordinate. That is a slab of
  /// its own height, so it needs the volume of common boxes in one coordinate less.
  double by_recursion(const Gains& boxes) {
    const std::size_t last = boxes.objectives() - 1;
    std::vector<std::size_t> order(boxes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return boxes[a][last] != boxes[b][last] ? boxes[a][last] > boxes[b][last] : a < b;
    });
    double volume = 0;
    for (std::size_t n = 0; n < order.size(); ++n) {
      const double* const box = boxes[order[n]];
      Gains& common = common_[last];
      common.clear(last);
      for (std::size_t higher = 0; higher < n; ++higher) {
        common.append_common(box, boxes[order[higher]]);
        // Sweeps do not mind boxes within others; a recursion takes much longer for them.
        if (last > 3) common.tidy_up_last();
      }
      volume += box[last] * std::max(box_volume(box, last) - of(common), 0.0);
    }
    return volume;
  }

  std::vector<Pair> pairs_;
  std::vector<Triple> triples_;
  Staircase stairs_;
  std::map<std::size_t, Gains> common_;  // by the number of coordinates
};

void require_dimension(const Points& points, const std::vector<double>& reference) {
  if (reference.empty()) {
    throw InvalidArgument("front.dimension", "the reference point has no coordinates");
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].size() == reference.size()) continue;
    throw InvalidArgument("front.dimension", "point " + std::to_string(i) + " has " +
                                                 std::to_string(points[i].size()) +
                                                 " objectives, but the reference point has " +
                                                 std::to_string(reference.size()) + " objectives");
  }
  if (!std::all_of(reference.begin(), reference.end(), [](double r) { return std::isfinite(r); })) {
    throw InvalidArgument("front.reference", "a coordinate of the reference point is not finite");
  }
}

/// The points that count, in the order of the last objective, which spares sorting later.
struct Counted {
  Counted(const Points& points, const std::vector<double>& reference) : gains(reference.size()) {
    require_dimension(points, reference);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool counts = std::equal(points[i].begin(), points[i].end(), reference.begin(),
                                     [](double value, double limit) { return value < limit; });
      if (counts) places.push_back(i);
    }
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return points[a].back() < points[b].back();
    });
    std::vector<double> gain(reference.size());
    for (const std::size_t i : places) {
      std::transform(reference.begin(), reference.end(), points[i].begin(), gain.begin(),
                     std::minus<>());
      gains.append(gain.data());
      infinite.push_back(
          std::any_of(gain.begin(), gain.end(), [](double g) { return g > finite; }));
    }
  }

  static constexpr double finite = std::numeric_limits<double>::max();

  Gains gains;
  std::vector<std::size_t> places;
  std::vector<bool> infinite;  // whether a point lies at -infinity
};

}  // namespace

double hypervolume(const Points& points, const std::vector<double>& reference) {
  const Counted counted(points, reference);
  const bool infinite =
      std::any_of(counted.infinite.begin(), counted.infinite.end(), [](bool is) { return is; });
  if (infinite) return std::numeric_limits<double>::infinity();
  return UnionVolume().of(counted.gains);
}

std::vector<double> hypervolume_contributions(const Points& points,
                                              const std::vector<double>& reference) {
  const Counted counted(points, reference);
  std::vector<double> contributions(points.size(), 0.0);
  UnionVolume volume;
  for (std::size_t i = 0; i < counted.places.size(); ++i) {
    contributions[counted.places[i]] = counted.infinite[i] ? std::numeric_limits<double>::infinity()
                                                           : volume.without(counted.gains, i);
  }
  return contributions;
}

}  // namespace kiln
