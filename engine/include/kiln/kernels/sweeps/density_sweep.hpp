// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "kiln/device/density.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/sweeps/density_ref.hpp"

namespace kiln {

/// The widths of the moves of a sweep: one for every coordinate of every *place*.
///
/// A place is a rung if every rung has one chain (a ladder: the width stays with the temperature
/// while states come and go), else a slot. After sweep k of a place, a width is multiplied by
/// exp(gain (1 - 0.44)) if the move was accepted and exp(-0.44 gain) if not, with gain = min(1, 2
/// (k + 1)^-0.6). The gain falls to 0, so the distribution of the chains converges to the target
/// (diminishing adaptation); while widths still change much, it is only approximate.
/// @par Source  Haario, Saksman, Tamminen, Comput. Stat. 20 (2005) 265 (componentwise); Roberts,
/// Rosenthal, J. Appl. Probab. 44 (2007) 458 (diminishing adaptation); the rate 0.44 of single
/// coordinates: Gelman, Roberts, Gilks, Bayesian Statistics 5 (1996) 599.
struct MoveWidths {
  View2<double> width;          ///< [dimension][slots], in units of the coordinates
  View1<std::uint64_t> sweeps;  ///< [slots], by place: sweeps that adapted it
  double least = 0, most = 0;   ///< bounds of all widths
  bool by_rung = false;

  static constexpr double acceptance = 0.44;

  KILN_HD static double gain_after(std::uint64_t sweeps) {
    const double k = exact::add(static_cast<double>(sweeps), 1.0);
    const double gain = exact::mul(2.0, exact::exp(exact::mul(-0.6, exact::log(k))));
    return gain < 1.0 ? gain : 1.0;
  }
  KILN_HD double bounded(double width_now) const {
    return width_now < least ? least : (width_now > most ? most : width_now);
  }
};

/// Makes one sweep of random-walk Metropolis for every chain: each coordinate in turn is moved on
/// trial and the density evaluated, so a sweep costs `dimension` energies and no gradient.
///
/// A move is x_i + w v / (1 - |v|), v uniform in (-1, 1), w the width: symmetric, half of the moves
/// are shorter than w, and a fraction 1 / (1 + r) is longer than r w, so that a chain can also
/// leave a well whose walls are many widths away. Walls reflect. A move is accepted with
/// probability min(1, exp(-beta (dbase + lambda dterm))), by exact arithmetic from the energies;
/// NaN and infinite energies are counted and never accepted, unless the chain has no finite energy
/// itself. Afterwards energies and parts are those of the state, and the gradient of a chain that
/// moved is invalid. Class S6: draws and decisions are the same, energies are backend-specific;
/// paths diverge where rounding decides.
/// @par Source  Metropolis et al., J. Chem. Phys. 21 (1953) 1087.
struct KILN_API DensitySweep {
  static constexpr const char* name = "density_sweep";
  static constexpr const char* summary =
      "makes one Metropolis move of every coordinate of every chain, with adaptive move widths";
  static constexpr const char* accuracy = "S6";

  DensityRef density;
  ChainState chains;  ///< of its gradient only the weights are used
  MoveWidths widths;
  View1<std::uint64_t> accepted;    ///< [slots], counts moves
  View1<std::uint64_t> not_finite;  ///< [slots], counts trial energies that are not finite
  double inverse_scale = 1;         ///< 1 / (stored energy per unit of the user's energy)
  ChainLayout layout = ChainLayout::thread;
  View1<double> scratch;  ///< [slots * scratch_size()], for teams with vectors in memory

  /// Doubles of scratch memory per chain: the position, and the density's workspace.
  KILN_HD static constexpr std::int64_t scratch_size(std::int64_t dimension,
                                                     std::int64_t workspace) {
    return dimension + workspace;
  }
  /// Positions and energies once, widths there and back; no move is accepted at least.
  double bytes() const {
    const double chain =
        static_cast<double>(chains.position.rows) * 3 * sizeof(double) + 3 * sizeof(double);
    return static_cast<double>(chains.replicas) * chain;
  }
  KILN_HD std::int64_t chain_count() const { return chains.replicas; }
  KILN_HD bool active() const { return chains.control->active(chains.step_offset); }

  template <class Density, class Team>
  KILN_HD void run(const Density& target, const Team& team, std::int64_t slot,
                   double* memory) const;
  template <class Density>
  KILN_HD void run_in_registers(const Density& target, std::int64_t slot, double* work) const;
};

namespace hmc {

/// x folded into [lower, upper], by any number of reflections; an infinite bound does nothing.
KILN_HD inline double fold_at_walls(double x, double lower, double upper) {
  const bool from = lower > -exact::infinity(), to = upper < exact::infinity();
  if (from && to) {
    const double range = exact::sub(upper, lower), period = exact::mul(2.0, range);
    double y = exact::sub(x, lower);
    if (y < 0.0) y = -y;
    if (y > range) {
      const double turns = exact::div(y, period);
      // Beyond 2^52 periods the fraction is lost: any place is as good.
      const auto whole =
          turns < 0x1p52 ? static_cast<double>(static_cast<std::int64_t>(turns)) : turns;
      y = exact::sub(y, exact::mul(whole, period));
      if (y > range) y = exact::sub(period, y);
    }
    x = exact::add(lower, y);
  } else if (from && x < lower) {
    x = exact::sub(exact::mul(2.0, lower), x);
  } else if (to && x > upper) {
    x = exact::sub(exact::mul(2.0, upper), x);
  }
  return x < lower ? lower : (x > upper ? upper : x);
}

/// A symmetric step in units of the width from one word; see DensitySweep.
KILN_HD inline double long_tailed_step(std::uint32_t word) {
  const double v = exact::sub(exact::mul(2.0, open_unit(word)), 1.0);
  return exact::div(v, exact::sub(1.0, v < 0.0 ? -v : v));
}

KILN_HD inline std::uint32_t pick(const Words4& words, int i) {
  // No indexed access, so that the words stay in registers.
  return i == 0 ? words[0] : (i == 1 ? words[1] : (i == 2 ? words[2] : words[3]));
}

/// x[i] = value, by the thread that owns it. Vectors of a GPU thread are in registers, which cannot
/// be indexed.
template <class Density, class Team>
KILN_HD void put(const Team& team, double* x, int i, double value) {
#if defined(__CUDA_ARCH__)
  if constexpr (Density::fixed_dimension > 0 && std::is_same_v<Team, SingleTeam>) {
    KILN_UNROLL
    for (int j = 0; j < Density::fixed_dimension; ++j) x[j] = j == i ? value : x[j];
    return;
  }
#endif
  if (i % team.size() == team.rank()) x[i] = value;
}

/// A chain in the middle of its sweep.
template <class Density, class Team>
struct Sweeper {
  const DensitySweep& kernel;
  const Density& density;
  const Team& team;
  std::int64_t slot;
  double* x;
  double* work;
  double beta, lambda;
  EnergyParts energy;
  std::uint32_t accepted = 0, not_finite = 0;

  KILN_HD static bool finite(const EnergyParts& e) {
    const double total = e.total();
    return exact::sub(total, total) == 0.0;
  }
  KILN_HD EnergyParts evaluate() const {
    const EnergyParts e =
        density.template evaluate<Want::energy>(team, DensityPoint{x, {}, nullptr, work});
    team.sync();  // a slower thread may still read x
    return e;
  }
  KILN_HD bool accepts(const EnergyParts& trial, std::uint32_t word) const {
    if (!finite(trial)) return false;
    if (!finite(energy)) return true;  // any finite energy is better than a start without one
    const double base = exact::sub(trial.base, energy.base);
    const double term = exact::sub(trial.term, energy.term);
    // Not beta base + beta lambda term: beta may be infinite, and a part 0.
    return exact::accept(beta, exact::add(base, exact::mul(lambda, term)), word);
  }
  /// Makes one move, and multiplies the width by `wider` or `narrower`.
  KILN_HD void move(int i, std::int64_t place, std::uint32_t step_word, std::uint32_t accept_word,
                    double wider, double narrower) {
    const ChainState& chains = kernel.chains;
    const double before = chains.position(i, slot);
    const double width = kernel.widths.width(i, place);
    double trial_x = exact::add(before, exact::mul(width, long_tailed_step(step_word)));
    if (chains.bounded) trial_x = fold_at_walls(trial_x, chains.lower_of(i), chains.upper_of(i));
    put<Density>(team, x, i, trial_x);
    team.sync();
    const EnergyParts trial = evaluate();
    const bool take = accepts(trial, accept_word);
    if (!finite(trial)) ++not_finite;
    if (take) {
      energy = trial;
      ++accepted;
    } else {
      put<Density>(team, x, i, before);
    }
    if (i % team.size() != team.rank()) return;
    if (take) chains.position(i, slot) = trial_x;
    kernel.widths.width(i, place) =
        kernel.widths.bounded(exact::mul(width, take ? wider : narrower));
  }
};

/// The sweep of one chain. `x` is a vector of this team, `work` the density's scratch memory.
template <class Density, class Team>
KILN_HD void density_sweep(const DensitySweep& kernel, const Density& density, const Team& team,
                           std::int64_t slot, double* x, double* work) {
  const ChainState& chains = kernel.chains;
  const std::int64_t rung = chains.rung_of[slot];
  const std::int64_t place = kernel.widths.by_rung ? rung : slot;
  const int d = dimension_of(density);
  Sweeper<Density, Team> sweeper{kernel,
                                 density,
                                 team,
                                 slot,
                                 x,
                                 work,
                                 exact::mul(chains.beta[rung], kernel.inverse_scale),
                                 chains.lambda ? chains.lambda[rung] : 1.0,
                                 {chains.base[slot], chains.term[slot]}};
  KILN_UNROLL
  for (int i = team.rank(); i < d; i += team.size()) x[i] = chains.position(i, slot);
  team.sync();
  // A state from another slot has its energy with it, but not its parts.
  const bool known = sweeper.energy.total() == chains.energy[slot];
  if (!known) sweeper.energy = sweeper.evaluate();

  const std::uint64_t sweeps = kernel.widths.sweeps[place];
  const double gain = MoveWidths::gain_after(sweeps);
  const double wider = exact::exp(exact::mul(gain, 1.0 - MoveWidths::acceptance));
  const double narrower = exact::exp(exact::mul(gain, -MoveWidths::acceptance));
  const std::uint64_t step = chains.control->step + chains.step_offset;
  const DrawName steps = chains.draw_ids.at(slot, step, RngDomain::propose);
  const DrawName decisions = chains.draw_ids.at(slot, step, RngDomain::accept);
  Words4 step_words{}, accept_words{};
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // the density is in the body
#endif
  for (int i = 0; i < d; ++i) {
    if (i % 4 == 0) {
      step_words = draw_quad(steps, static_cast<std::uint32_t>(i / 4));
      accept_words = draw_quad(decisions, static_cast<std::uint32_t>(i / 4));
    }
    sweeper.move(i, place, pick(step_words, i % 4), pick(accept_words, i % 4), wider, narrower);
  }
  if (team.rank() != 0) return;
  kernel.widths.sweeps[place] = sweeps + 1;
  if (!known || sweeper.accepted > 0) {
    const double total = sweeper.energy.total();
    chains.base[slot] = sweeper.energy.base;
    chains.term[slot] = sweeper.energy.term;
    chains.energy[slot] = total == total ? total : exact::infinity();
    chains.gradient_base_weight[slot] = exact::bits_to_double(0x7FF8000000000000ull);
  }
  if (kernel.accepted) kernel.accepted[slot] += sweeper.accepted;
  if (kernel.not_finite) kernel.not_finite[slot] += sweeper.not_finite;
}

}  // namespace hmc

template <class Density, class Team>
KILN_HD void DensitySweep::run(const Density& target, const Team& team, std::int64_t slot,
                               double* memory) const {
  hmc::density_sweep(*this, target, team, slot, memory, memory + dimension_of(target));
}

template <class Density>
KILN_HD void DensitySweep::run_in_registers(const Density& target, std::int64_t slot,
                                            double* work) const {
  double x[thread_vector_length<Density>];
  hmc::density_sweep(*this, target, SingleTeam{}, slot, x, work);
}

}  // namespace kiln
