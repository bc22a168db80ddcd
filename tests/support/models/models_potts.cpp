// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "models/models_potts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/sweeps/categorical_sweep.hpp"

#include "backends/backends.hpp"
#include "potts/potts_objective.hpp"

namespace kiln::test {
namespace {

constexpr std::int8_t unused_byte = 99;

double typical_change(const Potts& model) {
  double sum = 0;
  for (const PottsField& field : model.fields) sum += std::abs(field.amount) / model.q;
  for (const Edge& e : model.couplings) sum += 2 * std::abs(e.weight) / model.q;
  return sum > 0 ? sum / model.n : 1;
}

// [variable][slot] with unused bytes after each row.
std::vector<std::int8_t> spread(const PottsInputs& inputs) {
  const std::size_t slots = idx(inputs.slots), stride = slots + idx(inputs.extra_stride);
  std::vector<std::int8_t> bytes(idx(inputs.model.n) * stride, unused_byte);
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    bytes[i / slots * stride + i % slots] = inputs.values[i];
  }
  return bytes;
}

std::vector<std::int8_t> gather(const PottsInputs& inputs, const std::vector<std::int8_t>& bytes) {
  const std::size_t slots = idx(inputs.slots), stride = slots + idx(inputs.extra_stride);
  std::vector<std::int8_t> values;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % stride < slots) {
      values.push_back(bytes[i]);
    } else {
      EXPECT_EQ(bytes[i], unused_byte) << "a byte between the rows was written";
    }
  }
  return values;
}

/// One slot of the plain sweeps.
class PlainSlot {
 public:
  PlainSlot(const PottsInputs& inputs, const PlainModel& model, PottsOutputs& out,
            std::int64_t slot)
      : inputs_(inputs), model_(model), out_(out), slot_(slot) {
    fields_.assign(idx(inputs.model.n), std::vector<double>(idx(inputs.model.q), 0.0));
    for (const PottsField& field : inputs.model.fields) {
      fields_[idx(field.variable)][idx(field.value)] = field.amount;
    }
  }

  void sweep(std::uint64_t step, bool integral) {
    const double beta = inputs_.beta[idx(inputs_.rung[idx(slot_)])] * inputs_.inverse_scale;
    for (std::size_t site = 0; site < model_.sites.size(); ++site) {
      const std::int32_t variable = model_.sites[site].variable;
      if (variable < 0) continue;
      const std::vector<double> local = local_energies(model_.sites[site]);
      std::int8_t& own = value(variable);
      const std::int32_t next = inputs_.rule == SweepRule::metropolis
                                    ? metropolis(local, own, beta, step, site)
                                    : heat_bath(local, beta, word(step, site, 0));
      if (next == own) continue;
      if (integral) out_.energy[idx(slot_)] += local[idx(next)] - local[idx(own)];
      if (inputs_.count_accepted) ++out_.accepted[idx(slot_)];
      own = static_cast<std::int8_t>(next);
    }
  }

 private:
  std::int8_t& value(std::int32_t variable) {
    return out_.values[idx(variable * inputs_.slots + slot_)];
  }

  std::vector<double> local_energies(const PlainModel::Site& site) {
    std::vector<double> local(idx(inputs_.model.q), 0.0);
    for (const PlainModel::Neighbor& other : site.neighbors) {
      local[idx(value(other.variable))] += other.weight;
    }
    for (std::size_t v = 0; v < local.size(); ++v) local[v] += fields_[idx(site.variable)][v];
    return local;
  }

  std::uint32_t word(std::uint64_t step, std::size_t site, std::uint8_t block) const {
    const DrawName name{inputs_.names.key[idx(slot_)], step, inputs_.names.replica[idx(slot_)],
                        RngDomain::metropolis, block};
    return draw_word(name, static_cast<std::uint32_t>(site));
  }

  std::int32_t metropolis(const std::vector<double>& local, std::int32_t own, double beta,
                          std::uint64_t step, std::size_t site) const {
    std::vector<std::int32_t> others;
    for (std::int32_t v = 0; v < inputs_.model.q; ++v) {
      if (v != own) others.push_back(v);
    }
    const std::uint64_t product = std::uint64_t{word(step, site, 1)} * others.size();
    const std::int32_t proposed = others[product >> 32];
    const double delta = local[idx(proposed)] - local[idx(own)];
    const bool take = delta <= 0 || word(step, site, 0) < exact::accept_threshold(beta * delta);
    return take ? proposed : own;
  }

  static std::int32_t heat_bath(const std::vector<double>& local, double beta,
                                std::uint32_t drawn) {
    const double least = *std::min_element(local.begin(), local.end());
    std::vector<double> cumulated;
    double total = 0;
    for (const double energy : local) {
      total += energy == least ? 1.0 : exact::exp(-(beta * (energy - least)));
      cumulated.push_back(total);
    }
    const double at = drawn * 0x1p-32 * total;
    return static_cast<std::int32_t>(std::upper_bound(cumulated.begin(), cumulated.end(), at) -
                                     cumulated.begin());
  }

  const PottsInputs& inputs_;
  const PlainModel& model_;
  PottsOutputs& out_;
  std::int64_t slot_;
  std::vector<std::vector<double>> fields_;
};

}  // namespace

Potts potts_of(const Ising& pairs, std::int32_t q, const WeightSource& field) {
  Potts model{pairs.n, q, {}, pairs.couplings};
  for (std::int32_t i = 0; i < pairs.n; ++i) {
    for (std::int32_t v = 0; v < q; ++v) model.fields.push_back({i, v, field()});
  }
  problems::canonicalize(model);
  return model;
}

PottsInputs make_potts_sweep(Potts model, SweepRule rule, std::int64_t slots, std::uint64_t seed) {
  PottsInputs inputs;
  TestRandom random(seed);
  const double unit = 1 / typical_change(model);
  const std::array factors = {0.0, 0.03, 0.3, 0.7,
                              1.5, 4.0,  1e5, std::numeric_limits<double>::infinity()};
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    const double factor = factors[idx(random.between(0, factors.size() - 1))];
    inputs.beta.push_back(factor == 0 ? 0 : factor * unit);
    inputs.rung.push_back(static_cast<std::int32_t>(slots - 1 - slot));
  }
  for (std::int64_t i = 0; i < model.n * slots; ++i) {
    inputs.values.push_back(static_cast<std::int8_t>(random.between(0, model.q - 1)));
  }
  inputs.model = std::move(model);
  inputs.rule = rule;
  inputs.slots = slots;
  inputs.names = make_names(slots, 1, seed + 1);
  inputs.control.step = 5;
  inputs.sweeps = 2;
  return inputs;
}

PottsOutputs run_potts_sweeps(Queue& queue, const PottsInputs& inputs) {
  const problems::PottsPlan plan = problems::plan_potts(inputs.model);
  const problems::BoundPottsModel model(plan, queue);
  DeviceArray<std::int8_t> state(queue, spread(inputs));
  DeviceArray<double> energy(queue, std::vector<double>(idx(inputs.slots), potts_energy_before));
  DeviceArray<std::uint64_t> accepted(
      queue, std::vector<std::uint64_t>(idx(inputs.slots), potts_accepted_before));
  const DeviceArray<double> beta(queue, inputs.beta);
  const DeviceArray<std::int32_t> rung(queue, inputs.rung);
  const DeviceNames names(queue, inputs.names);
  const DeviceArray<RunControl> control = upload_control(queue, inputs.control);
  CategoricalSweep sweep;
  sweep.model = model.view();
  sweep.rule = inputs.rule;
  sweep.state = {state.data(), inputs.model.n, inputs.slots, inputs.slots + inputs.extra_stride};
  sweep.energy = energy.view();
  if (inputs.count_accepted) sweep.accepted = accepted.view();
  sweep.beta = beta.view();
  sweep.rung_of = rung.view();
  sweep.draw_ids = names.view();
  sweep.inverse_scale = inputs.inverse_scale;
  sweep.control = control.data();
  for (std::uint32_t offset = 0; offset < inputs.sweeps; ++offset) {
    sweep.step_offset = offset;
    queue.launch(sweep);
  }
  return {gather(inputs, state.download()), energy.download(), accepted.download()};
}

PottsOutputs plain_potts_sweeps(const PottsInputs& inputs) {
  const problems::PottsPlan plan = problems::plan_potts(inputs.model);
  const Ising pairs{inputs.model.n, std::vector<double>(idx(inputs.model.n), 0.0),
                    inputs.model.couplings, 0.0};
  const PlainModel model = plain_model(pairs, plan.pairs);
  PottsOutputs out;
  out.values = inputs.values;
  out.energy.assign(idx(inputs.slots), potts_energy_before);
  out.accepted.assign(idx(inputs.slots), potts_accepted_before);
  for (std::int64_t slot = 0; slot < inputs.slots; ++slot) {
    PlainSlot one(inputs, model, out, slot);
    for (std::uint64_t offset = 0; offset < inputs.sweeps; ++offset) {
      const std::uint64_t step = inputs.control.step + offset;
      const bool active =
          inputs.control.stop == DeviceStop::none && step < inputs.control.step_limit;
      if (active) one.sweep(step, plan.integral);
    }
  }
  return out;
}

std::string first_difference(const PottsOutputs& got, const PottsOutputs& expected) {
  std::ostringstream text;
  const std::size_t slots = expected.energy.size();
  if (got.values.size() != expected.values.size()) return "another number of values";
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    if (got.values[i] == expected.values[i]) continue;
    text << "variable " << i / slots << " of slot " << i % slots << " is " << int{got.values[i]}
         << " instead of " << int{expected.values[i]};
    return text.str();
  }
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (got.energy[slot] == expected.energy[slot] && got.accepted[slot] == expected.accepted[slot])
      continue;
    text << "slot " << slot << ": energy " << got.energy[slot] << ", accepted "
         << got.accepted[slot] << " instead of " << expected.energy[slot] << ", "
         << expected.accepted[slot];
    return text.str();
  }
  return {};
}

std::vector<std::int32_t> values_of(const std::vector<std::int8_t>& values, std::int64_t slots,
                                    std::int64_t slot) {
  std::vector<std::int32_t> own;
  for (std::size_t at = idx(slot); at < values.size(); at += idx(slots)) own.push_back(values[at]);
  return own;
}

}  // namespace kiln::test
