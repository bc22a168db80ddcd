// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/backends_moves.hpp"

#include <limits>

#include "kiln/kernels/run/accept_move.hpp"
#include "kiln/kernels/run/propose_move.hpp"

#include "backends/backends.hpp"

namespace kiln::test {
namespace {

/// The arguments of both kernels in device memory.
class DeviceMove {
 public:
  DeviceMove(Queue& queue, const MoveInputs& inputs)
      : queue_(queue),
        inputs_(inputs),
        block_(queue, inputs.shape, inputs.state.values),
        first_(queue, inputs.state.first),
        second_(queue, inputs.state.second),
        before_(queue, inputs.state.before),
        energy_(queue, inputs.state.energy),
        accepted_(queue, inputs.state.accepted),
        not_finite_(queue, inputs.state.not_finite),
        trial_(queue, inputs.trial),
        beta_(queue, inputs.beta),
        rung_(queue, inputs.rung),
        names_(queue, inputs.names),
        control_(upload_control(queue, inputs.control)) {}

  void propose() {
    queue_.launch(ProposeMove{block_.view(), inputs_.variable, inputs_.attempt, undo(),
                              names_.view(), control_.data(), inputs_.offset});
  }
  void accept() {
    AcceptMove kernel;
    kernel.block = block_.view();
    kernel.undo = undo();
    kernel.energy = energy_.view();
    kernel.trial_energy = trial_.view();
    kernel.accepted = accepted_.view();
    kernel.not_finite = not_finite_.view();
    kernel.beta = beta_.view();
    kernel.rung_of = rung_.view();
    kernel.draw_ids = names_.view();
    kernel.inverse_scale = inputs_.inverse_scale;
    kernel.control = control_.data();
    kernel.attempt = inputs_.attempt;
    kernel.step_offset = inputs_.offset;
    queue_.launch(kernel);
  }
  MoveState state() const {
    return {block_.values(),    first_.download(),    second_.download(),    before_.download(),
            energy_.download(), accepted_.download(), not_finite_.download()};
  }

 private:
  MoveUndo undo() { return {first_.view(), second_.view(), before_.view()}; }

  Queue& queue_;
  const MoveInputs& inputs_;
  DeviceBlock block_;
  DeviceArray<std::int32_t> first_, second_;
  DeviceArray<double> before_, energy_;
  DeviceArray<std::uint64_t> accepted_, not_finite_;
  DeviceArray<double> trial_, beta_;
  DeviceArray<std::int32_t> rung_;
  DeviceNames names_;
  DeviceArray<RunControl> control_;
};

}  // namespace

MoveInputs make_move(const BlockShape& shape, std::int64_t groups) {
  MoveInputs inputs;
  const std::size_t slots = idx(shape.slots);
  inputs.shape = shape;
  BlockShape drawn = shape;
  if (shape.lower == -std::numeric_limits<double>::infinity()) drawn.lower = -3, drawn.upper = 3;
  inputs.state.values = decode(shape, encode(shape, random_values(drawn, slots)));
  inputs.state.first.assign(slots, -1);
  inputs.state.second.assign(slots, -1);
  inputs.state.before.assign(slots, -1);
  inputs.state.energy.assign(slots, 0);
  inputs.state.accepted.assign(slots, 5);
  inputs.state.not_finite.assign(slots, 6);
  inputs.names = make_names(shape.slots, groups, 9);
  inputs.control.step = 3;
  inputs.trial.assign(slots, 0);
  inputs.beta = {1};
  inputs.rung.assign(slots, 0);
  return inputs;
}

std::vector<BlockShape> move_shapes() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<BlockShape> all;
  for (const BlockShape& base : {BlockShape{BlockKind::spin, Layout::i8, 0, 0, -1, 1},
                                 BlockShape{BlockKind::binary, Layout::i8, 0, 0, 0, 1},
                                 BlockShape{BlockKind::category, Layout::i8, 0, 0, 0, 5},
                                 BlockShape{BlockKind::integer, Layout::i8, 0, 0, -7, 11},
                                 BlockShape{BlockKind::integer, Layout::i8, 0, 0, 4, 4},
                                 BlockShape{BlockKind::real, Layout::i8, 0, 0, -1.5, 2.5},
                                 BlockShape{BlockKind::real, Layout::i8, 0, 0, -infinity, infinity},
                                 BlockShape{BlockKind::permutation, Layout::i8, 0, 0, 0, 0}}) {
    for (const Layout layout : layouts_of(base.kind)) {
      if (layout == Layout::packed32) continue;
      BlockShape shape = base;
      shape.layout = layout;
      all.push_back(shape);
    }
  }
  return all;
}

MoveState propose(Queue& queue, const MoveInputs& inputs) {
  DeviceMove move(queue, inputs);
  move.propose();
  return move.state();
}

MoveState propose_and_accept(Queue& queue, const MoveInputs& inputs) {
  DeviceMove move(queue, inputs);
  move.propose();
  move.accept();
  return move.state();
}

MoveState accept(Queue& queue, const MoveInputs& inputs) {
  DeviceMove move(queue, inputs);
  move.accept();
  return move.state();
}

}  // namespace kiln::test
