// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "pairwise/packed_states.hpp"

#include <string>

#include "kiln/errors.hpp"
#include "kiln/kernels/run/convert_layout.hpp"

namespace kiln::problems {
namespace {

[[noreturn]] void refuse(const char* what, Layout layout, const char* fix) {
  throw InvalidArgument("objective.layout",
                        std::string(what) +
                            " of spins or bits needs layout packed32; the states have layout " +
                            to_string(layout),
                        "the layout that the run started with", fix);
}

}  // namespace

void PackedStates::prepare(const ReplicaBatch& batch, Queue& queue) {
  const StateBlock block = batch.state(0);
  if (block.layout == Layout::packed32) return;
  const Block& kind = batch.space().blocks().front();
  memory_ = DeviceArray<std::byte>(
      queue, static_cast<std::int64_t>(block_bytes(kind, Layout::packed32, block.slots)));
  copy_ = block;
  copy_.layout = Layout::packed32;
  copy_.data = memory_.data();
}

View2<const std::uint32_t> PackedStates::of(const ReplicaBatch& batch, Queue& queue) {
  StateBlock block = batch.state(0);
  if (block.layout != Layout::packed32) {
    if (copy_.data == nullptr) refuse("the energy", block.layout, "set Needs::unpacked");
    queue.launch(ConvertLayout{block, copy_});
    block = copy_;
  }
  const View2<std::uint32_t> words = block.packed();
  return {words.data, words.rows, words.columns, words.stride};
}

View2<std::uint32_t> PackedStates::in_place(const ReplicaBatch& batch) {
  const StateBlock block = batch.state(0);
  if (block.layout != Layout::packed32) {
    refuse("the sweep", block.layout, "call WorkContext::sweep(), which supports every layout");
  }
  return block.packed();
}

}  // namespace kiln::problems
