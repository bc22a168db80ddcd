// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "kiln/device/density.hpp"
#include "kiln/device/dual.hpp"
#include "kiln/device/hd.hpp"
#include "kiln/device/team.hpp"

/// Makes densities from users' functors: each simple form becomes a density as
/// kiln/device/density.hpp defines it.
namespace kiln {

/// Return type of a functor instead of one number: the negative log prior and the negative log
/// likelihood, so that tempering can weight the likelihood alone.
template <class T>
struct Parts {
  T base;
  T term;
};

namespace functor {

/// The full form: evaluate<want>(team, point), dimension(), workspace().
template <class F>
concept TeamForm = requires(const F& f, const DensityPoint& at) {
  f.template evaluate<Want::both>(SingleTeam{}, at);
  f.dimension();
  f.workspace();
};
/// `double operator()(const double* x, double* gradient) const`: returns the value, and writes the
/// gradient unless it is null.
template <class F>
concept GradientForm = requires(const F& f, const double* x, double* gradient) {
  { f(x, gradient) } -> std::convertible_to<double>;
};
/// `template <class T> T operator()(const T* x) const`, or returning Parts<T>.
template <class F>
concept DualForm = !GradientForm<F> && requires(const F& f, const double* x, const Dual<1>* y) {
  f(x);
  f(y);
};

template <class T>
struct IsParts : std::false_type {};
template <class T>
struct IsParts<Parts<T>> : std::true_type {};

/// F::fixed_dimension, or 0.
template <class F>
constexpr int fixed_dimension_of() {
  if constexpr (requires { F::fixed_dimension; }) {
    return F::fixed_dimension;
  } else {
    return 0;
  }
}

/// Whether base and term are separate; a team form declares it by `static constexpr bool
/// has_parts`.
template <class F>
constexpr bool has_parts() {
  if constexpr (TeamForm<F>) {
    if constexpr (requires { F::has_parts; }) {
      return F::has_parts;
    } else {
      return false;
    }
  } else if constexpr (DualForm<F>) {
    return IsParts<decltype(std::declval<const F&>()(std::declval<const double*>()))>::value;
  } else {
    return false;
  }
}

}  // namespace functor

/// A density from a functor that computes its gradient; all term. One thread of the team calls the
/// functor.
template <class F, int fixed>
struct GradientDensity {
  static constexpr int fixed_dimension = fixed;

  F function;
  int n = fixed;

  KILN_HD int dimension() const { return n; }
  KILN_HD int workspace() const { return 0; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double value = 0;
    if (team.rank() == 0) {
      if constexpr (wants_gradient(want)) {
        value = function(at.x, at.gradient);
        KILN_UNROLL
        for (int i = 0; i < dimension_of(*this); ++i) at.gradient[i] *= at.weights.term;
      } else {
        value = function(at.x, static_cast<double*>(nullptr));
      }
    }
    if constexpr (wants_gradient(want)) team.sync();
    if constexpr (!wants_energy(want)) return {};
    return {0, team.sum(value)};
  }
};

/// A density from a functor that is written for any number type; gradients use forward duals,
/// several directions at a time. The threads of a team share the directions.
template <class F, int fixed>
struct DualDensity {
  static_assert(fixed >= 1 && fixed <= 64,
                "forward derivatives cost an evaluation for every few dimensions: beyond 64, write "
                "a functor that computes its gradient");
  static constexpr int fixed_dimension = fixed;

  F function;

  KILN_HD int dimension() const { return fixed; }
  KILN_HD int workspace() const { return 0; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    if constexpr (!wants_gradient(want)) {
      const auto parts = split(function(at.x));
      return {parts.base, parts.term};
    } else {
      constexpr int wide = fixed < 8 ? fixed : 8;
      constexpr int directions = std::is_base_of_v<SingleTeam, Team> ? wide : 1;
      double sums[2] = {0, 0};
      for (int begin = directions * team.rank(); begin < fixed; begin += directions * team.size()) {
        const auto parts = differentiate<directions>(at, begin);
        // All threads use one thread's value, so that they have the same bits.
        if (begin == 0) {
          sums[0] = parts.base;
          sums[1] = parts.term;
        }
      }
      team.sync();
      if constexpr (!wants_energy(want)) return {};
      team.sum(sums);
      return {sums[0], sums[1]};
    }
  }

 private:
  template <class T>
  KILN_HD static Parts<T> split(const T& value) {
    return {T(0.0), value};
  }
  template <class T>
  KILN_HD static Parts<T> split(const Parts<T>& value) {
    return value;
  }
  template <int directions>
  KILN_HD EnergyParts differentiate(const DensityPoint& at, int begin) const {
    using Number = Dual<directions>;
    Number x[fixed];
    KILN_UNROLL
    for (int i = 0; i < fixed; ++i) x[i] = Number::variable(at.x[i], i - begin);
    const auto parts = split(function(static_cast<const Number*>(x)));
    KILN_UNROLL
    for (int i = 0; i < fixed; ++i) {
      KILN_UNROLL
      for (int k = 0; k < directions; ++k) {
        if (i - begin == k) {
          at.gradient[i] = at.weights({parts.base.slope[k], parts.term.slope[k]});
        }
      }
    }
    return {parts.base.value, parts.term.value};
  }
};

namespace functor {

/// The density of a functor of any form. `fixed` is its dimension if the compiler knows it, else 0
/// and `dimension` counts.
template <int fixed, class F>
auto density_from(const F& functor, int dimension) {
  if constexpr (TeamForm<F>) {
    return functor;
  } else if constexpr (GradientForm<F>) {
    return GradientDensity<F, fixed>{functor, dimension};
  } else {
    static_assert(DualForm<F>,
                  "a functor is called as double f(const double* x, double* gradient) const, or "
                  "as T f(const T* x) const for any number type T, or is a density with "
                  "evaluate(); on a GPU its functions are marked KILN_HD");
    static_assert(!DualForm<F> || fixed > 0,
                  "a functor for any number type needs a dimension that the compiler knows: "
                  "static constexpr int fixed_dimension, or make_...<dimension>(...)");
    return DualDensity<F, fixed>{functor};
  }
}

}  // namespace functor
}  // namespace kiln
