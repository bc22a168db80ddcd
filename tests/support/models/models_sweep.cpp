// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "models/models_sweep.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "backends/backends.hpp"

namespace kiln::test {
namespace {

constexpr std::uint32_t unused_word = 0xDEADBEEFu;

double typical_field(const Ising& model) {
  double sum = 0;
  for (const double h : model.fields) sum += std::abs(h);
  for (const Edge& e : model.couplings) sum += 2 * std::abs(e.weight);
  return sum > 0 ? sum / model.n : 1;
}

bool flips(SweepRule rule, double beta, double delta, std::uint32_t word) {
  if (rule == SweepRule::metropolis) {
    return delta <= 0 || word < exact::accept_threshold(beta * delta);
  }
  return word < exact::heat_bath_threshold(delta == 0 ? 0.0 : beta * delta);
}

}  // namespace

namespace {

Words4 philox_block(const DrawName& name, std::size_t index, std::uint32_t replica,
                    std::uint32_t domain, std::uint32_t block) {
  const std::uint32_t last = domain << 24 | block << 16 | ((name.step >> 32) & 0xFFFFu);
  return philox4x32_10(Words4{{static_cast<std::uint32_t>(index), replica,
                               static_cast<std::uint32_t>(name.step), last}},
                       name.key);
}

}  // namespace

std::uint32_t word_by_planes(const DrawName& name, std::size_t site) {
  std::uint32_t word = philox_block(name, site, name.replica, 18, 0)[0] % (1u << 24);
  for (std::uint32_t k = 0; k < 8; ++k) {
    const std::uint32_t plane = philox_block(name, site, name.replica / 32, 17, k / 4)[k % 4];
    if ((plane >> (name.replica % 32) & 1u) != 0) word += 1u << (24 + k);
  }
  return word;
}

std::uint32_t shared_word(const DrawName& name, std::size_t site) {
  return philox_block(name, site / 4, name.replica / 32, 17,
                      2)[static_cast<std::uint32_t>(site % 4)];
}

std::uint32_t word_of(DrawNaming naming, const DrawName& name, std::size_t site) {
  if (naming == DrawNaming::planes) return word_by_planes(name, site);
  if (naming == DrawNaming::shared) return shared_word(name, site);
  return draw_word(name, static_cast<std::uint32_t>(site));
}

SweepInputs make_sweep(Ising model, std::int64_t slots, std::int64_t groups, std::uint64_t seed) {
  SweepInputs inputs;
  TestRandom random(seed);
  const double unit = 1 / typical_field(model);
  const std::array factors = {0.0, 0.03, 0.3, 0.7,
                              1.5, 4.0,  1e5, std::numeric_limits<double>::infinity()};
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    const double factor = factors[idx(random.between(0, factors.size() - 1))];
    inputs.beta.push_back(factor == 0 ? 0 : factor * unit);
    inputs.rung.push_back(static_cast<std::int32_t>(slots - 1 - slot));
  }
  for (std::int64_t i = 0; i < model.n * slots; ++i) {
    inputs.spins.push_back(random.between(0, 1) == 0 ? std::int8_t{-1} : std::int8_t{1});
  }
  inputs.model = std::move(model);
  inputs.slots = slots;
  inputs.names = make_names(slots, groups, seed + 1);
  inputs.control.step = 5;
  inputs.sweeps = 2;
  return inputs;
}

std::vector<std::uint32_t> pack_spins(const std::vector<std::int8_t>& spins, std::int64_t slots,
                                      std::int64_t extra) {
  const std::size_t words = idx(slots / 32), stride = words + idx(extra);
  const std::size_t variables = spins.size() / idx(slots);
  std::vector<std::uint32_t> packed(variables * stride, unused_word);
  for (std::size_t v = 0; v < variables; ++v) {
    for (std::size_t w = 0; w < words; ++w) {
      std::uint32_t word = 0;
      for (std::size_t r = 0; r < 32; ++r) {
        if (spins[v * idx(slots) + w * 32 + r] < 0) word |= 1u << r;
      }
      packed[v * stride + w] = word;
    }
  }
  return packed;
}

std::vector<std::int8_t> unpack_spins(const std::vector<std::uint32_t>& words, std::int64_t slots,
                                      std::int64_t extra) {
  const std::size_t columns = idx(slots / 32), stride = columns + idx(extra);
  std::vector<std::int8_t> spins;
  for (std::size_t v = 0; v < words.size() / stride; ++v) {
    for (std::size_t slot = 0; slot < idx(slots); ++slot) {
      const std::uint32_t word = words[v * stride + slot / 32];
      spins.push_back(((word >> (slot % 32)) & 1u) != 0 ? std::int8_t{-1} : std::int8_t{1});
    }
    for (std::size_t w = columns; w < stride; ++w) {
      EXPECT_EQ(words[v * stride + w], unused_word) << "a word between the rows was written";
    }
  }
  return spins;
}

std::vector<std::int8_t> spins_of(const std::vector<std::int8_t>& spins, std::int64_t slots,
                                  std::int64_t slot) {
  std::vector<std::int8_t> own;
  for (std::size_t at = idx(slot); at < spins.size(); at += idx(slots)) own.push_back(spins[at]);
  return own;
}

namespace {

std::vector<double> energies_before(const SweepInputs& inputs) {
  std::vector<double> all(idx(inputs.slots), energy_before);
  for (std::int64_t slot = 0; inputs.energies_hold && slot < inputs.slots; ++slot) {
    all[idx(slot)] = direct_energy(inputs.model, spins_of(inputs.spins, inputs.slots, slot));
  }
  return all;
}

}  // namespace

SweepOutputs run_sweeps(Queue& queue, const SweepInputs& inputs) {
  const problems::PairwisePlan plan = problems::plan_pairwise(inputs.model);
  const DeviceModel model(queue, plan);
  std::optional<DeviceDense> dense;
  if (inputs.kept_fields) dense.emplace(queue, plan, inputs.slots);
  const std::int64_t words = inputs.slots / 32;
  DeviceArray<std::uint32_t> state(queue,
                                   pack_spins(inputs.spins, inputs.slots, inputs.extra_stride));
  DeviceArray<double> energy(queue, energies_before(inputs));
  DeviceArray<std::uint64_t> accepted(
      queue, std::vector<std::uint64_t>(idx(inputs.slots), accepted_before));
  const DeviceArray<double> beta(queue, inputs.beta);
  const DeviceArray<std::int32_t> rung(queue, inputs.rung);
  const DeviceNames names(queue, inputs.names);
  const DeviceArray<RunControl> control = upload_control(queue, inputs.control);
  MetropolisSweep sweep;
  sweep.model = model.view();
  if (dense) sweep.model.dense = dense->view();
  sweep.state = {state.data(), inputs.model.n, words, words + inputs.extra_stride};
  sweep.energy = energy.view();
  if (inputs.count_accepted) sweep.accepted = accepted.view();
  sweep.beta = beta.view();
  sweep.rung_of = rung.view();
  sweep.draw_ids = names.view();
  sweep.inverse_scale = inputs.inverse_scale;
  sweep.control = control.data();
  sweep.rule = inputs.rule;
  sweep.naming = inputs.naming;
  sweep.energies_hold = inputs.energies_hold;
  sweep.sweeps = inputs.sweeps;
  sweep.beta_stride = inputs.beta_stride;
  if (inputs.beta_stride > 0) sweep.beta.size = inputs.beta_stride;
  const MetropolisSweep all = sweep;
  if (inputs.in_row) queue.launch(all);
  for (std::uint32_t offset = 0; !inputs.in_row && offset < inputs.sweeps; ++offset) {
    sweep = all.only(offset);
    if (offset > 0 && !inputs.replacement.empty()) {
      state.upload(pack_spins(inputs.replacement, inputs.slots, inputs.extra_stride));
    }
    queue.launch(sweep);
  }
  return {unpack_spins(state.download(), inputs.slots, inputs.extra_stride), energy.download(),
          accepted.download()};
}

SweepOutputs plain_sweeps(const SweepInputs& inputs) {
  const problems::PairwisePlan plan = problems::plan_pairwise(inputs.model);
  const PlainModel model = plain_model(inputs.model, plan);
  SweepOutputs out;
  out.spins = inputs.spins;
  out.energy = energies_before(inputs);
  out.accepted.assign(idx(inputs.slots), accepted_before);
  for (std::int64_t slot = 0; slot < inputs.slots; ++slot) {
    const auto spin = [&](std::int32_t variable) -> std::int8_t& {
      return out.spins[idx(variable * inputs.slots + slot)];
    };
    for (std::uint64_t offset = 0; offset < inputs.sweeps; ++offset) {
      const RunControl& control = inputs.control;
      const std::uint64_t step = control.step + offset;
      const auto rung =
          inputs.rung[idx(slot)] + static_cast<std::int64_t>(offset) * inputs.beta_stride;
      const double beta = inputs.beta[idx(rung)] * inputs.inverse_scale;
      if (control.stop != DeviceStop::none || step >= control.step_limit) continue;
      for (std::int32_t v = 0; offset > 0 && v < inputs.model.n; ++v) {
        if (!inputs.replacement.empty()) spin(v) = inputs.replacement[idx(v * inputs.slots + slot)];
      }
      const DrawName name{inputs.names.key[idx(slot)], step, inputs.names.replica[idx(slot)],
                          RngDomain::metropolis, 0};
      for (std::size_t site = 0; site < model.sites.size(); ++site) {
        const PlainModel::Site& here = model.sites[site];
        if (here.variable < 0) continue;
        double down = 0;  // weights of neighbours with s = -1
        for (const PlainModel::Neighbor& other : here.neighbors) {
          if (spin(other.variable) < 0) down += other.weight;
        }
        const double delta = -2.0 * spin(here.variable) * (here.base - 2 * down);
        if (!flips(inputs.rule, beta, delta, word_of(inputs.naming, name, site))) continue;
        spin(here.variable) = static_cast<std::int8_t>(-spin(here.variable));
        if (plan.integral) out.energy[idx(slot)] += delta;
        if (inputs.count_accepted) ++out.accepted[idx(slot)];
      }
    }
  }
  return out;
}

std::string first_difference(const SweepOutputs& got, const SweepOutputs& expected) {
  std::ostringstream text;
  const auto slots = expected.energy.size();
  for (std::size_t i = 0; i < expected.spins.size(); ++i) {
    if (got.spins[i] == expected.spins[i]) continue;
    text << "variable " << i / slots << " of slot " << i % slots << " is " << int{got.spins[i]};
    return text.str();
  }
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (got.energy[slot] != expected.energy[slot]) {
      text << "energy of slot " << slot << " is " << got.energy[slot] << " instead of "
           << expected.energy[slot];
      return text.str();
    }
    if (got.accepted[slot] != expected.accepted[slot]) {
      text << "slot " << slot << " accepted " << got.accepted[slot] << " instead of "
           << expected.accepted[slot];
      return text.str();
    }
  }
  return {};
}

}  // namespace kiln::test
