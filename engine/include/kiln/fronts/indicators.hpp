// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"

// Functions of sets of points on the host: [point][objective], all objectives minimised.
//
// A point with a NaN belongs to no set: it dominates no point, every point without a NaN dominates
// it, and indicators ignore it. Common errors: InvalidArgument `front.dimension` if points have
// different numbers of objectives or none, `front.empty` if a required set has no point. Distances
// use the objectives unscaled: scale them first if their units differ.
namespace kiln {

/// Whether `a` is nowhere greater than `b` and somewhere less.
KILN_API bool dominates(const std::vector<double>& a, const std::vector<double>& b);

/// Indices of the nondominated points, ascending; equal points all count. O(n log n) for two
/// objectives, else O(n times the size of the front). None for an empty set.
KILN_API std::vector<std::size_t> nondominated(const Points& points);

/// For each objective the index of the point with the smallest value. Ties are broken by the other
/// objectives, compared one after the other, and then by the index.
KILN_API std::vector<std::size_t> extreme_points(const Points& points);

/// The index of the front point whose scaled objectives have the smallest sum: any improvement of
/// one objective there costs most in the others.
///
/// Only finite nondominated points count. Objectives are scaled to [0, 1] by their smallest and
/// largest value among them; those with a single value are left out. So the point is the one
/// farthest below the plane x_1 + ... + x_M = 1, towards the ideal. With two objectives the plane
/// is the line through both ends of the front; with more, ends need not lie on it. Ties go to the
/// point of smallest coordinates, compared one after the other. A front that bulges away from the
/// ideal has no knee: the result is then an end (with three objectives or more, a point near one).
/// A front of equal points gives the first, a front without a finite point its first point.
/// @par Source  Das, Structural Optimization 18 (1999) 107: the point of largest bulge. He measures
/// it from the plane through the ends, which is a different one from three objectives on.
KILN_API std::size_t knee_point(const Points& points);

/// Why knee_point() is no knee; the first reason that applies.
enum class NoKnee {
  few,     ///< the front has fewer than three finite points
  end,     ///< it is an end (extreme_points())
  corner,  ///< it is almost an end: one scaled objective is above 0.5, the others add up to 0.15 at
           ///< most, and at most a tenth of the points is worse in that one
  straight  ///< its scaled objectives add up to above 0.99
};

/// Whether knee_point() is a knee: a compromise between the ends of the front; if not, why. On a
/// straight front the point of smallest sum depends on where the search stopped and is no bulge. A
/// front that bulges away from the ideal has it in a corner, and a few points that have not
/// converged scale that corner to below 0.99.
/// @throws InvalidArgument `front.empty` as knee_point().
KILN_API std::optional<NoKnee> why_no_knee(const Points& points);
/// Whether why_no_knee() finds no reason.
KILN_API bool has_knee(const Points& points);

/// The index of the front point that is the best compromise: knee_point() if has_knee(), else the
/// point nearest to the ideal point, which has the smallest value of each objective. The points
/// that count and their scale are those of knee_point(), and the distance is the largest scaled
/// objective: with the Euclidean distance all points of a sphere would be equally near. Ties go to
/// the point of smallest coordinates, compared one after the other.
/// @throws InvalidArgument `front.empty` as knee_point().
/// @par Source  Miettinen, Nonlinear Multiobjective Optimization (1999), section 2.1: the method of
/// the global criterion, with p infinite and normalised objectives.
KILN_API std::size_t compromise_point(const Points& points);

/// Hypervolume of the points up to the reference, in any number of objectives. A point counts only
/// if it is less than the reference in every objective; without such points the volume is 0. With a
/// point at -infinity it is infinite.
///
/// Sweeps for up to three objectives, O(n log n); beyond, the volume that each point adds, by
/// recursion: O(n^2 log n) for four, and more with every further one.
/// @throws InvalidArgument `front.reference` if a coordinate of the reference is not finite.
/// @par Source  While, Bradstreet, Barone, IEEE Trans. Evol. Comput. 16 (2012) 86, for the
/// recursion; Beume, Fonseca, López-Ibáñez, Paquete, Vahrenhold, IEEE Trans. Evol. Comput. 13
/// (2009) 1075, for the sweep.
KILN_API double hypervolume(const Points& points, const std::vector<double>& reference);

/// The exclusive hypervolume contribution of each point: [point]. 0 for points that are dominated,
/// duplicated, or do not count; infinite for a point at -infinity. O(n^2) for two objectives, O(n^2
/// log n) for three, beyond as hypervolume() for each point.
/// @throws InvalidArgument as hypervolume().
KILN_API std::vector<double> hypervolume_contributions(const Points& points,
                                                       const std::vector<double>& reference);

/// IGD: mean over the points z of the reference front of the smallest Euclidean distance from z to
/// a point. It is not sqrt(sum d^2) / n, which some programs print.
/// @par Source  Coello Coello, Reyes Sierra, MICAI 2004, LNCS 2972, 688.
KILN_API double inverted_generational_distance(const Points& points, const Points& reference_front);

/// IGD+: as IGD, with the norm of max(a - z, 0) as distance, by which a point a is worse than z. A
/// set that dominates another never has the larger value.
/// @par Source  Ishibuchi, Masuda, Tanigaki, Nojima, EMO 2015, LNCS 9019, 110.
KILN_API double inverted_generational_distance_plus(const Points& points,
                                                    const Points& reference_front);

/// GD: mean over the points of the smallest Euclidean distance to the reference front.
/// @par Source  Van Veldhuizen, Lamont, Late Breaking Papers at GP 1998, 221; here as the plain
/// mean of distances.
KILN_API double generational_distance(const Points& points, const Points& reference_front);

/// GD+: as GD, with the norm of max(a - z, 0) for the point a and a point z of the reference front.
/// @par Source  Ishibuchi et al., EMO 2015, as above.
KILN_API double generational_distance_plus(const Points& points, const Points& reference_front);

/// The additive epsilon indicator: the smallest e for which every point of the reference front,
/// moved by e in all objectives, is matched or dominated: max over z of min over a of max over i of
/// a_i - z_i. Negative if the set is strictly better.
/// @par Source  Zitzler, Thiele, Laumanns, Fonseca, Grunert da Fonseca, IEEE Trans. Evol. Comput. 7
/// (2003) 117.
KILN_API double additive_epsilon(const Points& points, const Points& reference_front);

/// The spread indicator, the unevenness of the gaps: 0 for equal gaps from one end of the reference
/// front to the other, about 1 and more for clusters.
///
/// Two objectives: (d_f + d_l + sum |d_i - d|) / (d_f + d_l + (N - 1) d), d_i the N - 1 distances
/// between neighbours in the order of the first objective, d their mean, d_f and d_l the distances
/// between the ends of the set and those of the reference front. More: (E + sum |d_i - d|) / (E + N
/// d), d_i the distance of each point to its nearest neighbour, E the sum over objectives of the
/// distance from the set to the point of the reference front that is largest there (ties go to the
/// smallest coordinates). A single point has no gaps. 0 if all distances are 0. The ends are those
/// of the nondominated points of the reference front.
/// @par Source  Deb, Pratap, Agarwal, Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182, for two;
/// Zhou, Jin, Zhang, Sendhoff, Tsang, CEC 2006, 892, for more, here with distances that are not
/// squared.
KILN_API double spread(const Points& points, const Points& reference_front);

/// All vectors k / divisions with whole numbers k >= 0 that sum to `divisions`, in the order of
/// their coordinates: C(divisions + objectives - 1, objectives - 1) points, [direction][objective].
/// @throws InvalidArgument `front.directions` unless both numbers are at least 1, and for more than
/// ten million points.
/// @par Source  Das, Dennis, SIAM J. Optim. 8 (1998) 631.
KILN_API Points das_dennis(int objectives, int divisions);

/// The largest set of das_dennis() with at most `count` points. From eight objectives on such a set
/// has no inner point unless it is huge, so there are two layers: one of p divisions and one of p -
/// 1 (p at least 2) shrunk by half towards the centre, w / 2 + 1 / (2 objectives). If these do not
/// fit either, the corners alone.
/// @throws InvalidArgument `front.directions` if there are fewer points than objectives, or no
/// objectives.
/// @par Source  Deb, Jain, IEEE Trans. Evol. Comput. 18 (2014) 577.
KILN_API Points reference_directions(int objectives, std::int64_t count);

}  // namespace kiln
