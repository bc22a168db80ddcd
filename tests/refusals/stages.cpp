// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Stages that must not compile, one for each value of REFUSAL; with 0 all of this compiles.
#include "kiln/fusion/fuse.hpp"
#include "kiln/kernel_set.hpp"

namespace refusals {

#define REFUSAL_KERNELS(KERNEL) KERNEL(Move) KERNEL(Smooth) KERNEL(SmoothInPlace) KERNEL(HidesView)
KILN_COMPONENT(Component, "refusals", REFUSAL_KERNELS)

struct Move {
  static constexpr const char* name = "move";
  kiln::SlotColumn<double, "position"> position;
#if REFUSAL == 1  // writes what it declares to read
  kiln::SlotColumn<const double, "momentum"> momentum;
#else
  kiln::SlotColumn<double, "momentum"> momentum;
#endif
  KILN_HD void operator()(kiln::Slot slot) const {
    position[slot] += momentum[slot];
    momentum[slot] = 0;
#if REFUSAL == 2  // reaches another slot
    position[slot.index() + 1] = 0;
#elif REFUSAL == 3   // makes a slot
    position[kiln::Slot(0)] = 0;
#elif REFUSAL == 10  // takes the view of a column
    position.view_(0, slot.index() + 1) = 0;
#endif
  }
};

struct Smooth {
#if REFUSAL == 11  // has the name of another kernel
  static constexpr const char* name = "move";
#else
  static constexpr const char* name = "smooth";
#endif
#if REFUSAL == 4  // a table that a body could write
  kiln::SharedColumn<double, "position"> from;
#else
  kiln::SharedColumn<const double, "position"> from;
#endif
  kiln::SlotColumn<double, "mean"> to;
  KILN_HD void operator()(kiln::Slot slot) const { to[slot] = from[0]; }
};

struct SmoothInPlace {
  static constexpr const char* name = "smooth_in_place";
  kiln::SharedColumn<const double, "position"> from;
  kiln::SlotColumn<double, "position"> to;
  KILN_HD void operator()(kiln::Slot slot) const { to[slot] = from[0]; }
};

struct HidesView {
  static constexpr const char* name = "hides_view";
  kiln::SlotColumn<double, "position"> position;
  kiln::View1<double> anything;
  KILN_HD void operator()(kiln::Slot slot) const { anything[0] = position[slot]; }
};

struct Unlisted {
  static constexpr const char* name = "unlisted";
  kiln::SlotColumn<double, "position"> position;
  KILN_HD void operator()(kiln::Slot slot) const { position[slot] = 0; }
};

void use(kiln::Queue& queue) {
  kiln::fuse(Move{}, Move{}).enqueue(queue);
  kiln::launch_slots_on_cpu(Smooth{}, queue);
#if REFUSAL == 5  // reads other slots of what an earlier stage writes
  kiln::fuse(Move{}, Smooth{}).enqueue(queue);
#elif REFUSAL == 6  // or a later one
  kiln::fuse(Smooth{}, Move{}).enqueue(queue);
#elif REFUSAL == 7  // or itself
  kiln::launch_slots_on_cpu(SmoothInPlace{}, queue);
#elif REFUSAL == 8
  kiln::launch_slots_on_cpu(HidesView{}, queue);
#elif REFUSAL == 9
  kiln::fuse(Move{}, Unlisted{}).enqueue(queue);
#elif REFUSAL == 11
  kiln::fuse(Move{}, Move{}, Move{}).enqueue(queue);
#endif
}

}  // namespace refusals
