// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/backends_blocks.hpp"

#include <algorithm>
#include <cstring>

#include "backends/backends.hpp"

namespace kiln::test {
namespace {

template <class T>
std::vector<std::byte> cells(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T>
std::vector<double> numbers(const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

// Slot s of a variable is bit s mod 32 of its word s / 32; a set bit is spin -1 or binary 1.
std::vector<std::byte> packed(const BlockShape& shape, const std::vector<double>& values) {
  const double set = shape.kind == BlockKind::spin ? -1.0 : 1.0;
  std::vector<std::uint32_t> words(values.size() / 32, 0u);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == set) words[i / 32] |= 1u << (i % 32);
  }
  std::vector<std::byte> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::vector<double> unpacked(const BlockShape& shape, const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  std::vector<double> values(words.size() * 32);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool bit = ((words[i / 32] >> (i % 32)) & 1u) != 0;
    values[i] = shape.kind == BlockKind::spin ? (bit ? -1.0 : 1.0) : (bit ? 1.0 : 0.0);
  }
  return values;
}

double random_value(const BlockShape& shape, TestRandom& random) {
  switch (shape.kind) {
    case BlockKind::spin:
      return random.between(0, 1) == 0 ? -1.0 : 1.0;
    case BlockKind::binary:
      return static_cast<double>(random.between(0, 1));
    case BlockKind::real:
      return shape.lower + (shape.upper - shape.lower) * random.unit();
    default:
      return static_cast<double>(random.between(static_cast<std::int64_t>(shape.lower),
                                                static_cast<std::int64_t>(shape.upper)));
  }
}

}  // namespace

std::vector<std::byte> encode(const BlockShape& shape, const std::vector<double>& values) {
  switch (shape.layout) {
    case Layout::packed32:
      return packed(shape, values);
    case Layout::i8:
      return cells<std::int8_t>(values);
    case Layout::i32:
      return cells<std::int32_t>(values);
    case Layout::f32:
      return cells<float>(values);
    case Layout::f64:
      break;
  }
  return cells<double>(values);
}

std::vector<double> decode(const BlockShape& shape, const std::vector<std::byte>& bytes) {
  switch (shape.layout) {
    case Layout::packed32:
      return unpacked(shape, bytes);
    case Layout::i8:
      return numbers<std::int8_t>(bytes);
    case Layout::i32:
      return numbers<std::int32_t>(bytes);
    case Layout::f32:
      return numbers<float>(bytes);
    case Layout::f64:
      break;
  }
  return numbers<double>(bytes);
}

std::vector<Layout> layouts_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::spin:
    case BlockKind::binary:
      return {Layout::packed32, Layout::i8, Layout::i32, Layout::f32, Layout::f64};
    case BlockKind::real:
      return {Layout::f32, Layout::f64};
    default:
      return {Layout::i8, Layout::i32, Layout::f32, Layout::f64};
  }
}

std::vector<double> random_values(const BlockShape& shape, std::uint64_t seed) {
  TestRandom random(seed);
  std::vector<double> values(idx(shape.variables * shape.slots));
  if (shape.kind != BlockKind::permutation) {
    for (double& value : values) value = random_value(shape, random);
    return values;
  }
  for (std::int64_t slot = 0; slot < shape.slots; ++slot) {
    for (std::int64_t v = 0; v < shape.variables; ++v) {
      values[idx(v * shape.slots + slot)] = static_cast<double>(v);
      std::swap(values[idx(v * shape.slots + slot)],
                values[idx(random.between(0, v) * shape.slots + slot)]);
    }
  }
  return values;
}

HostNames make_names(std::int64_t slots, std::int64_t groups, std::uint64_t seed) {
  TestRandom random(seed);
  HostNames names;
  const std::int64_t size = (slots + groups - 1) / groups;
  std::uint64_t key = 0;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    if (slot % size == 0) key = random.word();
    names.key.push_back(key);
    names.replica.push_back(static_cast<std::uint32_t>(slot % size));
  }
  return names;
}

}  // namespace kiln::test
