// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/fusion/stage_members.hpp"

namespace kiln {
namespace {

bool is_empty(const StageAccess& access) {
  return access.begin == nullptr || access.rows <= 0 || access.columns <= 0;
}

std::uintptr_t begin_of(const StageAccess& access) {
  return reinterpret_cast<std::uintptr_t>(access.begin);
}
std::uintptr_t end_of(const StageAccess& access) {
  return begin_of(access) + static_cast<std::uintptr_t>((access.rows - 1) * access.stride_bytes +
                                                        access.columns * access.value_bytes);
}

bool overlap(const StageAccess& a, const StageAccess& b) {
  if (begin_of(a) >= end_of(b) || begin_of(b) >= end_of(a)) return false;
  if (a.rows <= 1 || b.rows <= 1 || a.stride_bytes != b.stride_bytes) return true;
  // Side by side in the rows of one matrix?
  const StageAccess& left = begin_of(a) <= begin_of(b) ? a : b;
  const StageAccess& right = &left == &a ? b : a;
  const auto apart =
      static_cast<std::int64_t>(begin_of(right) - begin_of(left)) % left.stride_bytes;
  return apart < left.columns * left.value_bytes ||
         apart + right.columns * right.value_bytes > left.stride_bytes;
}

// Whether a slot has the same values in both: one is the other, or rows of it.
bool have_the_same_slots(const StageAccess& a, const StageAccess& b) {
  if (a.value_bytes != b.value_bytes || *a.type != *b.type) return false;
  if (a.rows > 1 && b.rows > 1 && a.stride_bytes != b.stride_bytes) return false;
  // The stride of a single row says nothing.
  const std::int64_t stride = a.rows > 1   ? a.stride_bytes
                              : b.rows > 1 ? b.stride_bytes
                                           : a.columns * a.value_bytes;
  const auto apart = static_cast<std::int64_t>(begin_of(a) - begin_of(b));
  return stride == 0 ? apart == 0 : apart % stride == 0;
}

std::string words_of(const StageAccess& access) {
  const char* const how = access.reach == Reach::reads_shared  ? "reads any slot of '"
                          : access.reach == Reach::writes_slot ? "writes '"
                                                               : "reads '";
  return "stage '" + std::string(access.stage) + "' " + how + access.column + "'";
}

// Rows that overlap, or lie before their beginning, hide what a slot reaches.
void check_rows(const StageAccess& access) {
  if (is_empty(access) || access.rows == 1) return;
  if (access.stride_bytes >= access.columns * access.value_bytes) return;
  throw InvalidArgument(
      "fuse.stride",
      words_of(access) + ", whose rows of " + std::to_string(access.columns) + " values begin " +
          std::to_string(access.stride_bytes / access.value_bytes) + " values apart",
      "a stride of at least the length of a row");
}

void check_pair(const StageAccess& a, const StageAccess& b) {
  const bool writes = a.reach == Reach::writes_slot || b.reach == Reach::writes_slot;
  const bool shared = a.reach == Reach::reads_shared || b.reach == Reach::reads_shared;
  if (!writes || is_empty(a) || is_empty(b) || !overlap(a, b)) return;
  if (!shared && have_the_same_slots(a, b)) return;
  throw InvalidArgument("fuse.overlap",
                        words_of(a) + " and " + words_of(b) +
                            ", which overlap: in one launch no slot waits for " + "the others",
                        shared ? "memory that no stage writes, for what a stage reads of any slot"
                               : "the same values for a slot in both, or separate memory",
                        "launch these stages one by one, or give them separate memory");
}

}  // namespace

std::int64_t check_accesses(const std::vector<StageAccess>& accesses) {
  const StageAccess* first = nullptr;
  for (const StageAccess& access : accesses) check_rows(access);
  for (const StageAccess& access : accesses) {
    if (access.reach == Reach::reads_shared) continue;
    if (first == nullptr) first = &access;
    if (access.columns == first->columns) continue;
    throw InvalidArgument(
        "fuse.slots",
        words_of(*first) + " of " + std::to_string(first->columns) + " slots, and " +
            words_of(access) + " of " + std::to_string(access.columns) + " slots",
        "the same number of slots in all columns of slots", "launch these stages one by one");
  }
  if (first == nullptr) {
    throw InvalidArgument("fuse.slots", "the stages have no column of slots",
                          "at least one SlotColumn, SlotState or DrawIds");
  }
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    for (std::size_t j = i + 1; j < accesses.size(); ++j) check_pair(accesses[i], accesses[j]);
  }
  return first->columns;
}

namespace detail {

void add_access_of_block(std::vector<StageAccess>& to, const char* column,
                         const StateBlock& block) {
  block.require_single_values(column);
  struct Value {
    std::int64_t bytes = 0;
    const std::type_info* type = &typeid(void);
  };
  const Value value = [&]() -> Value {
    switch (block.layout) {
      case Layout::packed32:
        break;
      case Layout::i8:
        return {1, &typeid(std::int8_t)};
      case Layout::i32:
        return {4, &typeid(std::int32_t)};
      case Layout::f32:
        return {4, &typeid(float)};
      case Layout::f64:
        return {8, &typeid(double)};
    }
    return {};
  }();
  to.push_back({"", column, Reach::writes_slot, block.data, block.variables, block.slots,
                block.slots * value.bytes, value.bytes, value.type});
  if (block.box == nullptr) return;
  to.push_back({"", "box of the state", Reach::reads_shared, block.box, 2, block.variables,
                block.variables * 8, 8, &typeid(double)});
}

}  // namespace detail
}  // namespace kiln
