// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kiln/kernels/bifurcation/bifurcation_matrix.hpp"
#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"

#include "backends/backends.hpp"
#include "models/models.hpp"

namespace kiln::test {

/// Everything that bifurcation_steps reads, on the host.
struct OscillatorInputs {
  Ising model;
  std::int64_t slots = 32;
  std::vector<float> position, momentum;  ///< [site][slot]
  std::vector<BifurcationTuning> tuning{{0.1F, 1, 1}};
  std::vector<std::int32_t> group;  ///< [slots]
  BifurcationRounds rounds;
  BifurcationVariant variant = BifurcationVariant::discrete;
  std::uint32_t steps = 1, of_launch = 1;
  bool with_matrix = false;
  std::int32_t matrix_unit = 1;
  RunControl control;
};

struct OscillatorOutputs {
  std::vector<float> position, momentum;
  friend bool operator==(const OscillatorOutputs& a, const OscillatorOutputs& b) {
    return bits(a.position) == bits(b.position) && bits(a.momentum) == bits(b.momentum);
  }
  static std::vector<std::uint32_t> bits(const std::vector<float>& values) {
    std::vector<std::uint32_t> all;
    for (const float value : values) all.push_back(std::bit_cast<std::uint32_t>(value));
    return all;
  }
};

/// Random positions within the walls and momenta, the slots dealt out to `groups` groups.
inline OscillatorInputs random_oscillators(Ising model, std::int64_t slots, std::int64_t groups,
                                           std::uint64_t seed) {
  TestRandom random(seed);
  OscillatorInputs in;
  in.slots = slots;
  const std::int64_t sites = problems::plan_pairwise(model).n_sites();
  for (std::int64_t i = 0; i < sites * slots; ++i) {
    in.position.push_back(static_cast<float>(2 * random.unit() - 1));
    in.momentum.push_back(static_cast<float>(random.unit() - 0.5));
  }
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    in.group.push_back(static_cast<std::int32_t>(slot * groups / slots));
  }
  in.model = std::move(model);
  return in;
}

inline OscillatorOutputs run_steps(Queue& queue, const OscillatorInputs& in) {
  const DeviceModel model(queue, problems::plan_pairwise(in.model));
  DeviceArray<float> position(queue, in.position), momentum(queue, in.momentum);
  const DeviceArray<BifurcationTuning> tuning(queue, in.tuning);
  const DeviceArray<std::int32_t> group(queue, in.group);
  BifurcationSteps kernel;
  kernel.model = model.view();
  const std::int64_t sites = kernel.model.n_sites;
  DeviceArray<std::int8_t> matrix(queue, in.with_matrix ? sites * sites : 0);
  DeviceArray<std::byte> scratch(queue,
                                 BifurcationSteps::scratch_bytes(sites, in.slots, in.with_matrix));
  if (in.with_matrix) {
    queue.launch(
        BifurcationMatrix{kernel.model, {matrix.data(), sites, sites, sites}, in.matrix_unit});
    kernel.matrix = {matrix.data(), sites, sites, sites};
    kernel.matrix_unit = in.matrix_unit;
  }
  kernel.position = {position.data(), sites, in.slots, in.slots};
  kernel.momentum = {momentum.data(), sites, in.slots, in.slots};
  kernel.tuning = tuning.view();
  kernel.rung_of = group.view();
  kernel.rounds = in.rounds;
  kernel.variant = in.variant;
  kernel.scratch = scratch.view();
  for (std::uint32_t done = 0; done < in.steps; done += in.of_launch) {
    RunControl now = in.control;
    now.step += done;
    const DeviceArray<RunControl> control = upload_control(queue, now);
    kernel.control = control.data();
    kernel.steps = std::min(in.of_launch, in.steps - done);
    queue.launch(kernel);
  }
  return {position.download(), momentum.download()};
}

/// The same from the formulas, site by site and replica by replica.
inline OscillatorOutputs plain_steps(const OscillatorInputs& in) {
  const PlainModel model = plain_model(in.model, problems::plan_pairwise(in.model));
  OscillatorOutputs out{in.position, in.momentum};
  const bool ballistic = in.variant == BifurcationVariant::ballistic;
  const double unit = ballistic ? 127 : 1;
  for (std::uint32_t s = 0; s < in.steps; ++s) {
    const BifurcationRounds::Place place = in.rounds.at(in.control.step + s);
    std::vector<double> shown;
    for (const float x : out.position) {
      shown.push_back(ballistic ? std::nearbyint(127.0F * x) : x < 0 ? -1 : 1);
    }
    for (std::size_t i = 0; i < model.sites.size(); ++i) {
      for (std::int64_t slot = 0; slot < in.slots; ++slot) {
        const BifurcationTuning& own = in.tuning[idx(in.group[idx(slot)])];
        double force = model.sites[i].field * unit;
        for (const PlainModel::Neighbor& j : model.sites[i].neighbors) {
          force += j.weight * shown[idx(j.site * in.slots + slot)];
        }
        const double rest =
            1 - static_cast<double>(place.step + 1) / static_cast<double>(place.length);
        const auto detuning = static_cast<float>(static_cast<double>(own.step) * rest);
        float& x = out.position[i * idx(in.slots) + idx(slot)];
        float& y = out.momentum[i * idx(in.slots) + idx(slot)];
        const float of_force = own.force * static_cast<float>(force), of_place = detuning * x;
        const float pull = of_force + of_place;
        y = (y - pull) * own.gain;
        const float shift = own.step * y;
        x = x + shift;
        if (std::abs(x) > 1) {
          x = x > 0 ? 1.0F : -1.0F;
          y = 0;
        }
      }
    }
  }
  return out;
}

}  // namespace kiln::test
