// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/replica_batch.hpp"

#include <algorithm>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/run/convert_layout.hpp"
#include "kiln/kernels/run/gather_states.hpp"

#include "batches/host_values.hpp"
#include "plan_naming.hpp"

namespace kiln {
namespace {

std::int64_t padded(std::int64_t replicas) { return (replicas + 31) / 32 * 32; }

std::size_t bytes_per_value(Layout layout) {
  switch (layout) {
    case Layout::packed32:
    case Layout::i8:
      return 1;
    case Layout::i32:
    case Layout::f32:
      return 4;
    case Layout::f64:
      return 8;
  }
  return 8;
}

void check_shape(const Space& space, const std::vector<Layout>& layouts, const BatchShape& shape) {
  check_groups(shape);
  if (layouts.size() != space.blocks().size()) {
    throw InvalidArgument("batch.layouts", "a batch needs one layout for each block of the space");
  }
  for (std::size_t b = 0; b < layouts.size(); ++b) {
    if (!can_store(layouts[b], space.blocks()[b])) {
      throw InvalidArgument("batch.layout", std::string("layout ") + to_string(layouts[b]) +
                                                " cannot hold a block of kind " +
                                                to_string(space.blocks()[b].kind));
    }
  }
}

}  // namespace

std::uint64_t block_bytes(const Block& block, Layout layout, std::int64_t slots) {
  const auto cells = static_cast<std::uint64_t>(block.count) * static_cast<std::uint64_t>(slots);
  return layout == Layout::packed32 ? cells / 8 : cells * bytes_per_value(layout);
}

std::int64_t Replica::group() const noexcept { return index_ / batch_->group_size(); }
double Replica::energy() const {
  return batch_->read_energies(false)[static_cast<std::size_t>(index_)];
}
double Replica::best_energy() const {
  return batch_->read_energies(true)[static_cast<std::size_t>(index_)];
}
State Replica::state() const { return batch_->read_states({index_}, false).front(); }
State Replica::best_state() const { return batch_->read_states({index_}, true).front(); }

ReplicaBatch::ReplicaBatch(Queue& queue, const Space& space, const std::vector<Layout>& layouts,
                           const BatchShape& shape)
    : queue_(queue), space_(space), shape_(shape), slots_(padded(shape.replicas)) {
  check_shape(space, layouts, shape);
  for (std::size_t b = 0; b < layouts.size(); ++b) {
    blocks_.push_back(make_block(space.blocks()[b], layouts[b]));
  }

  energy_ = DeviceArray<double>(queue, slots_);
  best_energy_ = DeviceArray<double>(queue, slots_);
  key_ = DeviceArray<std::uint64_t>(queue, slots_);
  name_ = DeviceArray<std::uint32_t>(queue, slots_);
  rung_of_ = DeviceArray<std::int32_t>(queue, slots_);
  replica_of_ = DeviceArray<std::int32_t>(queue, slots_);
  queue.launch(InitSlots{shape.seed, shape.replicas, group_size(), key_.view(), name_.view(),
                         rung_of_.view(), replica_of_.view(), energy_.view(), best_energy_.view()});
  best_step_ = DeviceArray<std::uint64_t>(queue, slots_);
  accepted_ = DeviceArray<std::uint64_t>(queue, slots_);
  not_finite_ = DeviceArray<std::uint64_t>(queue, slots_);
  improved_ = DeviceArray<std::uint32_t>(queue, slots_ / 32);
  best_step_.zero();
  accepted_.zero();
  not_finite_.zero();
  improved_.zero();
}

std::uint64_t ReplicaBatch::bytes_needed(const Space& space, const std::vector<Layout>& layouts,
                                         const BatchShape& shape) {
  check_shape(space, layouts, shape);
  const std::int64_t slots = padded(shape.replicas);
  const auto n = static_cast<std::uint64_t>(slots);
  // Energy, best energy, key, best step, counts; name, rung, replica; bits of improvement.
  std::uint64_t bytes = 6 * device_lines(n * 8) + 3 * device_lines(n * 4) + device_lines(n / 8);
  for (std::size_t b = 0; b < layouts.size(); ++b) {
    const Block& block = space.blocks()[b];
    bytes += 2 * device_lines(block_bytes(block, layouts[b], slots)) +
             device_lines(block.box.size() * sizeof(Bounds));
  }
  return bytes;
}

std::uint64_t ReplicaBatch::bytes_saved(const Space& space, const std::vector<Layout>& layouts,
                                        const BatchShape& shape) {
  const std::int64_t slots = padded(shape.replicas);
  const auto n = static_cast<std::uint64_t>(slots);
  std::uint64_t bytes = 5 * device_lines(n * 8) + 3 * device_lines(n * 4);
  for (std::size_t b = 0; b < layouts.size(); ++b) {
    bytes += 2 * device_lines(block_bytes(space.blocks()[b], layouts[b], slots));
  }
  return bytes;
}

ReplicaBatch::BlockStore ReplicaBatch::make_block(const Block& block, Layout layout) const {
  const auto bytes = static_cast<std::int64_t>(block_bytes(block, layout, slots_));
  BlockStore store;
  store.now_memory = DeviceArray<std::byte>(queue_, bytes);
  store.best_memory = DeviceArray<std::byte>(queue_, bytes);
  store.now_memory.zero();
  store.best_memory.zero();
  store.now = {
      store.now_memory.data(), block.count, slots_, layout, block.kind, block.lower, block.upper};
  if (!block.box.empty()) {
    std::vector<double> bounds;  // all lower ones, then all upper ones
    for (const Bounds& one : block.box) bounds.push_back(one.lower);
    for (const Bounds& one : block.box) bounds.push_back(one.upper);
    store.box = DeviceArray<double>(queue_, bounds);
    store.now.box = store.box.data();
  }
  store.best = store.now;
  store.best.data = store.best_memory.data();
  return store;
}

std::vector<SlotArray> ReplicaBatch::replica_arrays() {
  std::vector<SlotArray> all;
  for (const BlockStore& store : blocks_) {
    all.emplace_back(store.now);
    all.emplace_back(store.best);
  }
  for (const View1<double> values : {energy_.view(), best_energy_.view()}) all.emplace_back(values);
  for (const View1<std::uint64_t> counts :
       {best_step_.view(), accepted_.view(), not_finite_.view()}) {
    all.emplace_back(counts);
  }
  all.emplace_back(name_.view());
  all.emplace_back(replica_of_.view());
  return all;
}

void ReplicaBatch::convert(int block, Layout layout) {
  BlockStore& old = blocks_[static_cast<std::size_t>(block)];
  const Block& kind = space_.blocks()[static_cast<std::size_t>(block)];
  if (!can_store(layout, kind)) {
    throw InvalidArgument("batch.layout", std::string("layout ") + to_string(layout) +
                                              " cannot hold a block of kind " +
                                              to_string(kind.kind));
  }
  BlockStore fresh = make_block(kind, layout);
  queue_.launch(ConvertLayout{old.now, fresh.now});
  queue_.launch(ConvertLayout{old.best, fresh.best});
  old = std::move(fresh);
}

void ReplicaBatch::divide(std::int64_t groups, std::uint64_t seed,
                          DeviceArray<std::int32_t>& origin) {
  const BatchShape shape{shape_.replicas, groups, seed};
  check_groups(shape);
  const auto block_of = [&](View1<std::int32_t> values) {
    StateBlock block;
    block.data = values.data;
    block.variables = 1;
    block.slots = slots_;
    block.layout = Layout::i32;
    block.kind = BlockKind::integer;
    return block;
  };
  DeviceArray<std::int32_t> earlier(queue_, slots_);
  const bool begins = origin.size() == 0;
  const View1<std::int32_t> replicas = replica_of_.view();
  GatherStates gather{
      block_of(begins ? replicas : origin.view()), block_of(earlier.view()), {}, {}, {}};
  if (!begins) gather.source = {replicas.data, replicas.size};
  queue_.launch(gather);
  origin = std::move(earlier);
  shape_ = shape;
  // Energies stay: the kernel gets other places to write to.
  DeviceArray<double> unused(queue_, slots_);
  queue_.launch(InitSlots{shape.seed, shape.replicas, group_size(), key_.view(), name_.view(),
                          rung_of_.view(), replica_of_.view(), unused.view(), unused.view()});
  best_step_.zero();
  accepted_.zero();
  not_finite_.zero();
  improved_.zero();
}

std::vector<State> ReplicaBatch::read_states(const std::vector<std::int64_t>& slots,
                                             bool best) const {
  std::vector<StateBlock> blocks;
  for (const BlockStore& store : blocks_) blocks.push_back(best ? store.best : store.now);
  return read_states_of(queue_, blocks, slots);
}

std::vector<State> read_states_of(Queue& queue, const std::vector<StateBlock>& blocks,
                                  const std::vector<std::int64_t>& slots) {
  for (const std::int64_t slot : slots) {
    if (slot < 0 || slot >= blocks.front().slots) {
      throw InvalidArgument("batch.slot", "slot " + std::to_string(slot) + " is outside 0 .. " +
                                              std::to_string(blocks.front().slots - 1));
    }
  }
  // The chosen slots are brought together first: copying a whole batch for one of its states takes
  // seconds where the batch fills a device.
  std::vector<std::int32_t> sources(
      static_cast<std::size_t>(padded(static_cast<std::int64_t>(slots.size()))), -1);
  for (std::size_t i = 0; i < slots.size(); ++i) sources[i] = static_cast<std::int32_t>(slots[i]);
  const DeviceArray<std::int32_t> source(queue, sources);
  std::vector<State> states(slots.size());
  for (const StateBlock& block : blocks) {
    StateBlock chosen = block;
    chosen.slots = source.size();
    const Block of_space{block.kind, block.variables, block.lower, block.upper};
    DeviceArray<std::byte> memory(
        queue, static_cast<std::int64_t>(block_bytes(of_space, chosen.layout, chosen.slots)));
    memory.zero();  // the padding
    chosen.data = memory.data();
    queue.launch(GatherStates{block, chosen, source.view(), {}, {}});
    const std::vector<std::byte> bytes = memory.download();
    StateBlock host = chosen;
    host.data = const_cast<std::byte*>(bytes.data());  // only read below
    for (std::size_t i = 0; i < slots.size(); ++i) {
      BlockValues values = empty_values(host.kind, host.variables);
      std::visit(
          [&](auto& list) {
            using T = typename std::decay_t<decltype(list)>::value_type;
            for (std::size_t v = 0; v < list.size(); ++v) {
              list[v] = static_cast<T>(
                  host.get(static_cast<std::int64_t>(v), static_cast<std::int64_t>(i)));
            }
          },
          values);
      states[i].push_back(std::move(values));
    }
  }
  return states;
}

std::vector<double> ReplicaBatch::read_energies(bool best) const {
  return best ? best_energy_.download() : energy_.download();
}

void ReplicaBatch::save(Archive& archive) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::string prefix = "batch.block" + std::to_string(b);
    archive.put(prefix + ".state", blocks_[b].now_memory);
    archive.put(prefix + ".best", blocks_[b].best_memory);
  }
  archive.put("batch.energy", energy_);
  archive.put("batch.best_energy", best_energy_);
  archive.put("batch.best_step", best_step_);
  archive.put("batch.accepted", accepted_);
  archive.put("batch.not_finite", not_finite_);
  archive.put("batch.rung_of", rung_of_);
  archive.put("batch.replica_of", replica_of_);
  archive.put("batch.name", name_);
}

void ReplicaBatch::load(const Archive& archive) {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::string prefix = "batch.block" + std::to_string(b);
    archive.restore(prefix + ".state", blocks_[b].now_memory);
    archive.restore(prefix + ".best", blocks_[b].best_memory);
  }
  archive.restore("batch.energy", energy_);
  archive.restore("batch.best_energy", best_energy_);
  archive.restore("batch.best_step", best_step_);
  archive.restore("batch.accepted", accepted_);
  archive.restore("batch.not_finite", not_finite_);
  archive.restore("batch.rung_of", rung_of_);
  archive.restore("batch.replica_of", replica_of_);
  archive.restore("batch.name", name_);
}

}  // namespace kiln
