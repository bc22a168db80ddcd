// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/errors.hpp"
#include "kiln/kernels/run/assign_variable.hpp"
#include "kiln/kernels/run/mask_nonfinite.hpp"
#include "kiln/kernels/sweeps/boltzmann_probabilities.hpp"

#include "run_parts.hpp"

namespace kiln {

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
