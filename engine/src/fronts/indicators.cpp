// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fronts/indicators.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

using Point = std::vector<double>;
using Places = std::vector<std::size_t>;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool has_nan(const Point& point) {
  return std::any_of(point.begin(), point.end(), [](double x) { return std::isnan(x); });
}

bool is_finite(const Point& point) {
  return std::all_of(point.begin(), point.end(), [](double x) { return std::isfinite(x); });
}

void require_dimension(const Points& points, std::size_t objectives) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].size() == objectives && objectives > 0) continue;
    throw InvalidArgument("front.dimension",
                          "point " + std::to_string(i) + " has " +
                              std::to_string(points[i].size()) + " objectives; expected " +
                              std::to_string(std::max<std::size_t>(objectives, 1)));
  }
}

/// The places of the points without a NaN, which are all of one dimension.
Places usable(const Points& points) {
  Places places;
  if (points.empty()) return places;
  require_dimension(points, points.front().size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!has_nan(points[i])) places.push_back(i);
  }
  return places;
}

Places usable_or_throw(const Points& points, const char* what) {
  Places places = usable(points);
  if (places.empty()) {
    throw InvalidArgument("front.empty",
                          std::string("the ") + what + " has no point without a NaN");
  }
  return places;
}

/// Both sets without the points that have a NaN.
struct TwoSets {
  TwoSets(const Points& all_points, const Points& all_references) {
    for (const std::size_t i : usable_or_throw(all_points, "set")) points.push_back(all_points[i]);
    for (const std::size_t i : usable_or_throw(all_references, "reference front")) {
      references.push_back(all_references[i]);
    }
    require_dimension(references, points.front().size());
  }
  Points points, references;
};

double square(double x) { return x * x; }

/// The sum of one term for each objective.
template <class Term>
double sum_over(const Point& a, const Point& b, Term term) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(), term);
}

double distance(const Point& a, const Point& b) {
  return std::sqrt(sum_over(a, b, [](double x, double y) { return square(x - y); }));
}

/// By how much the point fails to be as good as the reference.
double shortfall(const Point& point, const Point& reference) {
  return std::sqrt(
      sum_over(point, reference, [](double a, double z) { return square(std::max(a - z, 0.0)); }));
}

/// The least measure(point) of the set.
template <class Measure>
double min_of(const Points& set, Measure measure) {
  double least = infinity;
  for (const Point& point : set) least = std::min(least, measure(point));
  return least;
}

template <class Measure>
double mean_of(const Points& set, Measure measure) {
  double sum = 0;
  for (const Point& point : set) sum += measure(point);
  return sum / static_cast<double>(set.size());
}

/// Of points without a NaN.
bool dominates_plainly(const double* a, const double* b, std::size_t objectives) {
  bool less = false;
  for (std::size_t k = 0; k < objectives; ++k) {
    if (a[k] > b[k]) return false;
    less = less || a[k] < b[k];
  }
  return less;
}

/// In this order no point is dominated by a later one.
Places sorted_by_coordinates(const Points& points, Places places) {
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  return places;
}

/// Of two objectives, sorted: the least second objective so far decides.
Places front_by_sweep(const Points& points, const Places& sorted) {
  Places front;
  for (const std::size_t i : sorted) {
    const bool better = front.empty() || points[i][1] < points[front.back()][1];
    if (better || points[i] == points[front.back()]) front.push_back(i);
  }
  return front;
}

/// A point that is dominated is dominated by one of the front, which comes before it.
Places front_by_comparison(const Points& points, const Places& sorted) {
  Places front;
  std::vector<double> values;  // of the front, side by side: all are looked at again and again
  for (const std::size_t i : sorted) {
    const std::size_t objectives = points[i].size();
    const double* const end = values.data() + values.size();
    const double* other = values.data();
    while (other != end && !dominates_plainly(other, points[i].data(), objectives)) {
      other += objectives;
    }
    if (other != end) continue;
    front.push_back(i);
    values.insert(values.end(), points[i].begin(), points[i].end());
  }
  return front;
}

/// How unevenly gaps are, given what is missing at the ends.
double unevenness(const std::vector<double>& gaps, double ends) {
  const double total = std::accumulate(gaps.begin(), gaps.end(), 0.0);
  if (ends + total == 0) return 0;
  const double mean = gaps.empty() ? 0 : total / static_cast<double>(gaps.size());
  double deviation = 0;
  for (const double gap : gaps) deviation += std::abs(gap - mean);
  return (ends + deviation) / (ends + total);
}

double spread_of_two(Points points, const Points& references) {
  std::sort(points.begin(), points.end());
  const auto [first, last] = std::minmax_element(references.begin(), references.end());
  std::vector<double> gaps;
  for (std::size_t i = 1; i < points.size(); ++i) {
    gaps.push_back(distance(points[i - 1], points[i]));
  }
  return unevenness(gaps, distance(points.front(), *first) + distance(points.back(), *last));
}

double spread_of_more(const Points& points, const Points& references) {
  double ends = 0;
  for (std::size_t k = 0; k < references.front().size(); ++k) {
    const Point& end = *std::min_element(
        references.begin(), references.end(),
        [k](const Point& a, const Point& b) { return a[k] != b[k] ? a[k] > b[k] : a < b; });
    ends += min_of(points, [&](const Point& point) { return distance(point, end); });
  }
  std::vector<double> gaps;
  for (std::size_t i = 0; i < points.size() && points.size() > 1; ++i) {
    gaps.push_back(min_of(points, [&](const Point& other) {
      return &other == &points[i] ? infinity : distance(points[i], other);
    }));
  }
  return unevenness(gaps, ends);
}

/// The box of some finite points. Halves, since the width of a box need not be a double.
class Scale {
 public:
  Scale(const Points& points, const Places& places) {
    for (std::size_t k = 0; k < points.front().size(); ++k) {
      const auto [low, high] = std::minmax_element(
          places.begin(), places.end(),
          [&](std::size_t a, std::size_t b) { return points[a][k] < points[b][k]; });
      low_.push_back(points[*low][k] / 2);
      width_.push_back(points[*high][k] / 2 - low_.back());
    }
  }

  /// An objective of the point, in [0, 1]; 0 where it has one value only.
  double operator()(const Point& point, std::size_t k) const {
    return width_[k] > 0 ? (point[k] / 2 - low_[k]) / width_[k] : 0;
  }
  /// The sum of the scaled objectives: 0 at the ideal point, 1 on the plane x_1 + ... + x_M = 1.
  double height(const Point& point) const {
    double sum = 0;
    for (std::size_t k = 0; k < point.size(); ++k) sum += (*this)(point, k);
    return sum;
  }
  /// Chebyshev distance from the ideal point: the greatest of the scaled objectives.
  double chebyshev_distance(const Point& point) const {
    double far = 0;
    for (std::size_t k = 0; k < point.size(); ++k) far = std::max(far, (*this)(point, k));
    return far;
  }

 private:
  std::vector<double> low_, width_;
};

constexpr double min_bulge = 0.01;  // of a knee below the plane x_1 + ... + x_M = 1

Places finite_of(const Points& points, const Places& places) {
  Places finite;
  std::copy_if(places.begin(), places.end(), std::back_inserter(finite),
               [&](std::size_t i) { return is_finite(points[i]); });
  return finite;
}

// Of those for which `value_of` is least the one of least coordinates.
template <class ValueOf>
std::size_t argmin(const Points& points, const Places& places, ValueOf value_of) {
  return *std::min_element(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    const double value_a = value_of(points[a]), value_b = value_of(points[b]);
    return value_a != value_b ? value_a < value_b : points[a] < points[b];
  });
}

std::size_t lowest_of(const Points& points, const Places& places, const Scale& scale) {
  return argmin(points, places, [&](const Point& point) { return scale.height(point); });
}

// Whether a point is an end but for few others: good in all objectives but one, and there hardly
// any is worse.
bool is_corner(const Points& points, const Places& finite, const Scale& scale, const Point& point) {
  constexpr double min_there = 0.5, max_elsewhere = 0.15;
  constexpr std::size_t tenth = 10;
  std::size_t worst = 0;
  for (std::size_t k = 1; k < point.size(); ++k) {
    if (scale(point, k) > scale(point, worst)) worst = k;
  }
  const double there = scale(point, worst);
  if (there <= min_there || scale.height(point) - there > max_elsewhere) return false;
  const auto beyond = std::count_if(finite.begin(), finite.end(),
                                    [&](std::size_t i) { return points[i][worst] > point[worst]; });
  return tenth * static_cast<std::size_t>(beyond) <= finite.size();
}

// Why the lowest of the finite points of a front is no knee.
std::optional<NoKnee> why_no_knee_among(const Points& points, const Places& finite) {
  if (finite.size() < 3) return NoKnee::few;
  Points front;
  for (const std::size_t i : finite) front.push_back(points[i]);
  const Scale scale(points, finite);
  const Point& lowest = points[lowest_of(points, finite, scale)];
  const Places ends = extreme_points(front);
  const auto is_lowest = [&](std::size_t i) { return front[i] == lowest; };
  if (std::any_of(ends.begin(), ends.end(), is_lowest)) return NoKnee::end;
  if (is_corner(points, finite, scale, lowest)) return NoKnee::corner;
  if (!(scale.height(lowest) <= 1 - min_bulge)) return NoKnee::straight;
  return std::nullopt;
}

}  // namespace

bool dominates(const Point& a, const Point& b) {
  if (a.size() != b.size()) {
    throw InvalidArgument("front.dimension", "a point of " + std::to_string(a.size()) +
                                                 " objectives cannot be compared with a point of " +
                                                 std::to_string(b.size()) + " objectives");
  }
  if (has_nan(a)) return false;
  return has_nan(b) || dominates_plainly(a.data(), b.data(), a.size());
}

Places nondominated(const Points& points) {
  const Places sorted = sorted_by_coordinates(points, usable(points));
  const bool of_two = !points.empty() && points.front().size() == 2;
  Places front = of_two ? front_by_sweep(points, sorted) : front_by_comparison(points, sorted);
  std::sort(front.begin(), front.end());
  return front;
}

Places extreme_points(const Points& points) {
  const Places places = usable_or_throw(points, "set");
  Places extremes;
  for (std::size_t k = 0; k < points.front().size(); ++k) {
    extremes.push_back(
        *std::min_element(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
          return points[a][k] != points[b][k] ? points[a][k] < points[b][k] : points[a] < points[b];
        }));
  }
  return extremes;
}

std::size_t knee_point(const Points& points) {
  usable_or_throw(points, "set");
  const Places front = nondominated(points);
  const Places finite = finite_of(points, front);
  if (finite.empty()) return front.front();
  return lowest_of(points, finite, Scale(points, finite));
}

std::optional<NoKnee> why_no_knee(const Points& points) {
  usable_or_throw(points, "set");
  return why_no_knee_among(points, finite_of(points, nondominated(points)));
}

bool has_knee(const Points& points) { return !why_no_knee(points); }

std::size_t compromise_point(const Points& points) {
  usable_or_throw(points, "set");
  const Places front = nondominated(points);
  const Places finite = finite_of(points, front);
  if (finite.empty()) return front.front();
  const Scale scale(points, finite);
  if (!why_no_knee_among(points, finite)) return lowest_of(points, finite, scale);
  return argmin(points, finite,
                [&](const Point& point) { return scale.chebyshev_distance(point); });
}

double inverted_generational_distance(const Points& points, const Points& reference_front) {
  const TwoSets sets(points, reference_front);
  return mean_of(sets.references, [&](const Point& z) {
    return min_of(sets.points, [&](const Point& a) { return distance(a, z); });
  });
}

double inverted_generational_distance_plus(const Points& points, const Points& reference_front) {
  const TwoSets sets(points, reference_front);
  return mean_of(sets.references, [&](const Point& z) {
    return min_of(sets.points, [&](const Point& a) { return shortfall(a, z); });
  });
}

double generational_distance(const Points& points, const Points& reference_front) {
  const TwoSets sets(points, reference_front);
  return mean_of(sets.points, [&](const Point& a) {
    return min_of(sets.references, [&](const Point& z) { return distance(a, z); });
  });
}

double generational_distance_plus(const Points& points, const Points& reference_front) {
  const TwoSets sets(points, reference_front);
  return mean_of(sets.points, [&](const Point& a) {
    return min_of(sets.references, [&](const Point& z) { return shortfall(a, z); });
  });
}

double additive_epsilon(const Points& points, const Points& reference_front) {
  const TwoSets sets(points, reference_front);
  double epsilon = -infinity;
  for (const Point& z : sets.references) {
    const auto move = [&](const Point& a) {
      return std::inner_product(
          a.begin(), a.end(), z.begin(), -infinity,
          [](double x, double y) { return std::max(x, y); }, std::minus<>());
    };
    epsilon = std::max(epsilon, min_of(sets.points, move));
  }
  return epsilon;
}

double spread(const Points& points, const Points& reference_front) {
  const TwoSets sets(points, reference_front);
  Points front;
  for (const std::size_t i : nondominated(sets.references)) front.push_back(sets.references[i]);
  return sets.points.front().size() == 2 ? spread_of_two(sets.points, front)
                                         : spread_of_more(sets.points, front);
}

}  // namespace kiln
