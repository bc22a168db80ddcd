// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/kernels/run/draw_ids.hpp"
#include "kiln/kernels/run/state_block.hpp"
#include "kiln/queue.hpp"

namespace kiln::test {

/// What a block of states is, without its values.
struct BlockShape {
  BlockKind kind = BlockKind::spin;
  Layout layout = Layout::packed32;
  std::int64_t variables = 0;
  std::int64_t slots = 32;  ///< multiple of 32
  double lower = -1;
  double upper = 1;
};

/// Canonical values [variable][slot] as the bytes of a layout, written independently of StateBlock.
std::vector<std::byte> encode(const BlockShape& shape, const std::vector<double>& values);
std::vector<double> decode(const BlockShape& shape, const std::vector<std::byte>& bytes);

/// Layouts that hold the values of a kind without loss (f32 among them for reals).
std::vector<Layout> layouts_of(BlockKind kind);

/// Random canonical values of a shape; permutations are orderings in every slot.
std::vector<double> random_values(const BlockShape& shape, std::uint64_t seed);

/// One block of states on a device.
class DeviceBlock {
 public:
  DeviceBlock(Queue& queue, const BlockShape& shape, const std::vector<double>& values)
      : shape_(shape), memory_(queue, encode(shape, values)) {}

  StateBlock view() {
    return {memory_.data(), shape_.variables, shape_.slots, shape_.layout,
            shape_.kind,    shape_.lower,     shape_.upper};
  }
  std::vector<std::byte> bytes() const { return memory_.download(); }
  std::vector<double> values() const { return decode(shape_, bytes()); }

 private:
  BlockShape shape_;
  DeviceArray<std::byte> memory_;
};

/// Keys and replica numbers of slots: `groups` groups that divide the slots, each with its own key.
struct HostNames {
  std::vector<std::uint64_t> key;
  std::vector<std::uint32_t> replica;
};
HostNames make_names(std::int64_t slots, std::int64_t groups, std::uint64_t seed);

class DeviceNames {
 public:
  DeviceNames(Queue& queue, const HostNames& names)
      : key_(queue, names.key), replica_(queue, names.replica) {}
  DrawIds view() const { return {key_.view(), replica_.view()}; }

 private:
  DeviceArray<std::uint64_t> key_;
  DeviceArray<std::uint32_t> replica_;
};

}  // namespace kiln::test
