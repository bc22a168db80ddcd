// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/fusion/fuse.hpp"
#include "kiln/kernel_set.hpp"

namespace kiln::test {

#define KILN_TEST_PARTICLE_KERNELS(KERNEL) KERNEL(Kick) KERNEL(Drift) KERNEL(Bounce) KERNEL(Jump)
KILN_COMPONENT(ParticleComponent, "test_particles", KILN_TEST_PARTICLE_KERNELS)

/// A spring of each dimension pulls a particle to 0.
struct Kick {
  static constexpr const char* name = "kick";
  SlotColumn<double, "momentum"> momentum;            ///< [dimension][slots]
  SlotColumn<const double, "position"> position;      ///< [dimension][slots]
  SharedColumn<const double, "stiffness"> stiffness;  ///< [dimension]
  double step = 0;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control->active(step_offset); }
  KILN_HD void operator()(Slot slot) const {
    for (std::int64_t i = 0; i < momentum.rows(); ++i) {
      const double force = exact::mul(stiffness[i], position(i, slot));
      momentum(i, slot) = exact::sub(momentum(i, slot), exact::mul(step, force));
    }
  }
};

struct Drift {
  static constexpr const char* name = "drift";
  SlotColumn<double, "position"> position;
  SlotColumn<const double, "momentum"> momentum;
  double step = 0;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control->active(step_offset); }
  KILN_HD void operator()(Slot slot) const {
    for (std::int64_t i = 0; i < position.rows(); ++i) {
      position(i, slot) = exact::add(position(i, slot), exact::mul(step, momentum(i, slot)));
    }
  }
};

/// Reflects particles at -1 and 1, and counts how often.
struct Bounce {
  static constexpr const char* name = "bounce";
  SlotColumn<double, "position"> position;
  SlotColumn<double, "momentum"> momentum;
  SlotColumn<std::uint32_t, "bounces"> bounces;  ///< [slots]

  KILN_HD void operator()(Slot slot) const {
    for (std::int64_t i = 0; i < position.rows(); ++i) {
      double& x = position(i, slot);
      if (x >= -1 && x <= 1) continue;
      x = exact::sub(x > 1 ? 2.0 : -2.0, x);
      momentum(i, slot) = -momentum(i, slot);
      ++bounces[slot];
    }
  }
};

/// Sets a variable of the state to a random one of 0 to 9, and notes where the particle was.
struct Jump {
  static constexpr const char* name = "jump";
  SlotState<"state"> state;
  SlotColumn<const double, "position"> position;
  SlotColumn<double, "noted"> noted;  ///< [slots]
  DrawIds draw_ids;
  const RunControl* control = nullptr;

  KILN_HD void operator()(Slot slot) const {
    const DrawName draw = draw_ids.at(slot.index(), control->step, RngDomain::user);
    const std::uint32_t word = draw_word(draw, 0);
    state.set(below(word, static_cast<std::uint32_t>(state.variables())), slot,
              static_cast<double>(word % 10));
    noted[slot] = exact::add(position(0, slot), state.get(0, slot));
  }
};

using Step = Fused<Kick, Drift, Bounce, Jump>;

/// The launchers of the parts, and of the four at once, on GPUs.
KernelSet<ParticleComponent> particle_parts_on_cuda();
KernelSet<ComponentOf<Step>> particle_step_on_cuda();

}  // namespace kiln::test
