// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/errors.hpp"
#include "kiln/kernels/run/accept_move.hpp"
#include "kiln/kernels/run/assign_variable.hpp"
#include "kiln/kernels/run/mask_nonfinite.hpp"
#include "kiln/kernels/run/propose_move.hpp"
#include "kiln/kernels/sweeps/boltzmann_probabilities.hpp"

#include "run_parts.hpp"

namespace kiln {

void RunCore::sweep(View1<const double> beta, std::uint32_t step_offset, bool energies_needed,
                    SweepRule rule, View1<const double> parameter,
                    View1<const std::uint32_t> active_rungs) {
  if (fallback_ && rule == SweepRule::heat_bath) {
    fallback_heat_bath(beta, step_offset, active_rungs);
  } else if (fallback_) {
    fallback_sweep(beta, step_offset, active_rungs);
  } else {
    SweepArgs args{*batch_,         beta, control(), step_offset, inverse_scale_,
                   energies_needed, rule, parameter, active_rungs};
    args.naming = draw_naming_;
    sweeps_->metropolis_sweep(args, *queue_);
  }
}

SweepArgs RunCore::row_of_sweeps(View2<const double> beta, bool energies_needed, SweepRule rule) {
  SweepArgs args{*batch_,        {beta.data, beta.columns}, control(), 0,
                 inverse_scale_, energies_needed,           rule};
  args.sweeps = static_cast<std::uint32_t>(beta.rows);
  args.beta_stride = beta.stride;
  args.naming = draw_naming_;
  return args;
}

std::optional<MetropolisSweep> RunCore::sweep_kernel(View2<const double> beta, SweepRule rule) {
  if (sweeps_ == nullptr || fallback_ || !sweeps_->takes_several()) return std::nullopt;
  return sweeps_->sweep_kernel(row_of_sweeps(beta, true, rule));
}

void RunCore::sweep_in_row(View2<const double> beta, bool energies_needed, SweepRule rule) {
  const auto sweeps = static_cast<std::uint32_t>(beta.rows);
  if (sweeps_ != nullptr && !fallback_ && sweeps_->takes_several()) {
    return sweeps_->metropolis_sweep(row_of_sweeps(beta, energies_needed, rule), *queue_);
  }
  for (std::uint32_t s = 0; s < sweeps; ++s) {
    const View1<const double> of_sweep = {beta.data + s * beta.stride, beta.columns};
    sweep(of_sweep, s, energies_needed && s + 1 == sweeps, rule, {}, {});
  }
}

void RunCore::fallback_sweep(View1<const double> beta, std::uint32_t step_offset,
                             View1<const std::uint32_t> active_rungs) {
  const View1<double> trial_energy = fallback_->trial_energy.view();
  ProposeMove propose;
  propose.undo = fallback_->undo();
  propose.draw_ids = batch_->draw_ids();
  propose.control = control();
  propose.step_offset = step_offset;
  AcceptMove accept{{},
                    fallback_->undo(),
                    batch_->energy(),
                    trial_energy,
                    batch_->accepted(),
                    batch_->not_finite(),
                    beta,
                    batch_->rung_of(),
                    batch_->draw_ids(),
                    inverse_scale_,
                    control(),
                    0,
                    step_offset,
                    active_rungs};
  auto* const at_once = objective_->as<SweepsByProposals>();
  if (at_once != nullptr &&
      at_once->sweep_by_proposals({*batch_, propose, accept, trial_energy}, *queue_)) {
    return;
  }
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    propose.block = accept.block = batch_->state(b);
    for (propose.variable = 0; propose.variable < propose.block.variables; ++propose.variable) {
      queue_->launch(propose);
      evaluate(trial_energy, {}, {});
      queue_->launch(accept);
      ++propose.attempt, ++accept.attempt;
    }
  }
}

// Every value of a variable is tried in all replicas at once, then each replica draws one of them
// by the Boltzmann law.
void RunCore::fallback_heat_bath(View1<const double> beta, std::uint32_t step_offset,
                                 View1<const std::uint32_t> active_rungs) {
  if (fallback_->candidates.size() == 0) {
    throw InvalidArgument("run.heat_bath",
                          "a heat-bath sweep was enqueued, but the schedule did not request it",
                          "Schedule::needs() must set Needs::heat_bath");
  }
  const std::int64_t slots = batch_->slots();
  std::uint32_t attempt = 0;
  for (int b = 0; b < batch_->n_blocks(); ++b) {
    const StateBlock block = batch_->state(b);
    const std::int64_t values = value_count(batch_->space().blocks()[static_cast<std::size_t>(b)]);
    const View2<double> energies = fallback_->energies_of(values, slots);
    for (std::int64_t v = 0; v < block.variables; ++v, ++attempt) {
      AssignVariable assign;
      assign.block = block;
      assign.variable = v;
      assign.before = fallback_->value.view();
      assign.control = control();
      assign.step_offset = step_offset;
      for (std::int64_t value = 0; value < values; ++value) {
        assign.index = static_cast<std::int32_t>(value);
        queue_->launch(assign);
        evaluate({&energies(value, 0), slots}, {}, {});
      }
      queue_->launch(MaskNonfinite{energies, batch_->not_finite(), control(), step_offset});
      BoltzmannProbabilities law;
      law.rows = slots;
      law.columns = values;
      law.energy = {energies.data, 1, slots};
      law.beta = beta;
      law.rung_of = batch_->rung_of();
      law.inverse_scale = inverse_scale_;
      law.drawn = fallback_->first.view();
      law.draw_ids = batch_->draw_ids();
      law.attempt = attempt;
      law.control = control();
      law.step_offset = step_offset;
      queue_->launch(law);
      assign.drawn = fallback_->first.view();
      assign.candidates = {energies.data, values, slots, slots};
      assign.energy = batch_->energy();
      assign.accepted = batch_->accepted();
      assign.rung_of = batch_->rung_of();
      assign.active_rungs = active_rungs;
      queue_->launch(assign);
    }
  }
}

}  // namespace kiln
