// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/team.hpp"

namespace kiln {

/// The outputs that a caller of a density requests; the others need not be computed.
enum class Want : std::uint8_t { energy, gradient, both };

KILN_HD constexpr bool wants_energy(Want want) { return want != Want::gradient; }
KILN_HD constexpr bool wants_gradient(Want want) { return want != Want::energy; }

/// An energy in two parts, U = base + term: the negative log prior and the negative log likelihood,
/// which tempering weights separately. A function without such parts is all term.
struct EnergyParts {
  double base = 0;
  double term = 0;
  KILN_HD double total() const { return base + term; }
};

/// The weights of both parts in the potential that a chain moves in: beta (base + lambda term). A
/// part of weight 0 is left out even if it is infinite: a likelihood of 0 does not matter to the
/// prior.
struct PartWeights {
  double base = 1;
  double term = 1;
  KILN_HD double operator()(const EnergyParts& e) const {
    return weighted(base, e.base) + weighted(term, e.term);
  }
  KILN_HD static double weighted(double weight, double value) {
    return weight == 0 ? 0.0 : weight * value;
  }
  friend KILN_HD bool operator==(const PartWeights& a, const PartWeights& b) {
    return a.base == b.base && a.term == b.term;
  }
};

/// Arguments of a density. All pointers belong to one chain and are shared by its team.
struct DensityPoint {
  const double* x = nullptr;   ///< [dimension], visible to the whole team
  PartWeights weights;         ///< of the gradient
  double* gradient = nullptr;  ///< [dimension], of the weighted sum of the parts; null for energies
  double* work = nullptr;      ///< [workspace()], scratch memory of the density
};

/// A *density* is a trivially copyable functor on points of R^d:
///
///     struct MyDensity {
///       static constexpr int fixed_dimension = 0;      // > 0 if the compiler knows it
///       KILN_HD int dimension() const;                 // d
///       KILN_HD int workspace() const;                 // doubles of scratch memory per chain
///       template <Want want, class Team>
///       KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const;
///     };
///
/// It may declare `static constexpr bool works_by_coordinates = true`: its work for a point is a
/// loop over coordinates and nothing longer, so that a short vector needs few threads, or one.
///
/// evaluate() returns the negative log density (or another value to minimise), equal on every
/// thread of the team, and writes all of at.gradient if requested; at its end the gradient is
/// visible to the team (team.sync()). Values that are not finite reject a move and are not an
/// error. Pointers to data are valid on the device that the functor was made for. One source serves
/// the CPU, a GPU thread per chain (fixed_dimension), four (works_by_coordinates), a warp, and a
/// block.
template <class Density>
KILN_HD constexpr int dimension_of(const Density& density) {
  if constexpr (Density::fixed_dimension > 0) {
    return Density::fixed_dimension;
  } else {
    return density.dimension();
  }
}

/// Whether a density declares works_by_coordinates.
template <class Density>
inline constexpr bool works_by_coordinates = requires {
  requires Density::works_by_coordinates;
};

/// The most dimensions of a density that a GPU thread evaluates alone.
inline constexpr int max_dimension_of_thread = 32;
/// The same if the compiler does not know the dimension: vectors are then in local memory.
inline constexpr int max_short_dimension = 24;

/// The length of a vector of a GPU thread that has a chain alone; 0: such a thread is too small.
template <class Density>
inline constexpr int thread_vector_length =
    Density::fixed_dimension > max_dimension_of_thread ? 0
    : Density::fixed_dimension > 0                     ? Density::fixed_dimension
    : works_by_coordinates<Density>                    ? max_short_dimension
                                                       : 0;

}  // namespace kiln
