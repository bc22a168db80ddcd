// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kiln/device/hd.hpp"
#include "kiln/device/views.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// A *stage* is a kernel whose body works on one slot, and whose members declare what the body
/// reaches:
///
///     struct Drift {
///       static constexpr const char* name = "drift";
///       SlotColumn<double, "position"> position;        // [dimension][slots], read and written
///       SlotColumn<const double, "momentum"> momentum;  // [dimension][slots], read
///       SharedColumn<const double, "mass"> mass;        // [dimension], read by all slots
///       double step = 0;
///       const RunControl* control = nullptr;
///       bool active() const;                            // KILN_HD; may be missing: always true
///       void operator()(Slot slot) const;               // KILN_HD
///     };
///
/// Members are columns, SlotState, DrawIds, `const RunControl*`, numbers and enumerations, at most
/// 12; other types would hide what a body reaches, and do not compile. Stages are trivially
/// copyable aggregates. fuse() (kiln/fusion/fuse.hpp) makes one launch of several stages.

/// The slot that a body works on. A body cannot make another one.
class Slot {
 public:
  /// For what is no column, such as DrawIds.
  KILN_HD std::int64_t index() const { return index_; }

 private:
  friend struct StageRunner;
  KILN_HD explicit Slot(std::int64_t index) : index_(index) {}
  std::int64_t index_;
};

namespace detail {
/// Lets fuse() look at what columns declare; no part of bodies.
struct ColumnAccess {
  template <class Column>
  static auto view_of(const Column& column) -> decltype(column.view_) {
    return column.view_;
  }
  template <class State>
  static auto block_of(const State& state) -> decltype(state.block_) {
    return state.block_;
  }
};
}  // namespace detail

/// How a stage reaches an array.
enum class Reach : std::uint8_t {
  reads_slot,    ///< reads the values of its slot
  writes_slot,   ///< reads and writes the values of its slot
  reads_shared,  ///< reads at any place
};

/// The name of a column as a template argument.
template <std::size_t size>
struct ColumnName {
  char text[size] = {};
  consteval ColumnName(const char (&from)[size]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < size; ++i) text[i] = from[i];
  }
};

/// Values of each slot, [rows][slots], of which a body reaches those of its slot. A body writes
/// them unless T is const. In stages that are fused, columns of one name are the same data.
template <class T, ColumnName column>
struct SlotColumn {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
  static constexpr const char* column_name() { return column.text; }
  static constexpr Reach reach = std::is_const_v<T> ? Reach::reads_slot : Reach::writes_slot;

  SlotColumn() = default;
  /// One row.
  template <class U>
  requires(std::is_same_v<U, T> || std::is_same_v<const U, T>) KILN_HD
      SlotColumn(const View1<U>& row)  // NOLINT(google-explicit-constructor)
      : view_{row.data, 1, row.size, row.size} {}
  template <class U>
  requires(std::is_same_v<U, T> || std::is_same_v<const U, T>) KILN_HD
      SlotColumn(const View2<U>& rows)  // NOLINT(google-explicit-constructor)
      : view_{rows.data, rows.rows, rows.columns, rows.stride} {}

  KILN_HD std::int64_t rows() const { return view_.rows; }
  KILN_HD T& operator[](Slot slot) const { return view_.data[slot.index()]; }
  KILN_HD T& operator()(std::int64_t row, Slot slot) const { return view_(row, slot.index()); }

 private:
  friend struct detail::ColumnAccess;
  View2<T> view_;
};

/// Values that any slot may read at any place: tables, and values of other slots. [rows][columns]
template <class T, ColumnName column>
struct SharedColumn {
  static_assert(
      std::is_const_v<T>,
      "a SharedColumn is read by all slots, so no body may write it: name its type const");
  static constexpr const char* column_name() { return column.text; }
  static constexpr Reach reach = Reach::reads_shared;

  SharedColumn() = default;
  /// One row.
  template <class U>
  requires(std::is_same_v<U, T> || std::is_same_v<const U, T>) KILN_HD
      SharedColumn(const View1<U>& row)  // NOLINT(google-explicit-constructor)
      : view_{row.data, 1, row.size, row.size} {}
  template <class U>
  requires(std::is_same_v<U, T> || std::is_same_v<const U, T>) KILN_HD
      SharedColumn(const View2<U>& rows)  // NOLINT(google-explicit-constructor)
      : view_{rows.data, rows.rows, rows.columns, rows.stride} {}

  KILN_HD std::int64_t rows() const { return view_.rows; }
  KILN_HD std::int64_t columns() const { return view_.columns; }
  KILN_HD T& operator[](std::int64_t i) const { return view_.data[i]; }
  KILN_HD T& operator()(std::int64_t row, std::int64_t place) const { return view_(row, place); }

 private:
  friend struct detail::ColumnAccess;
  View2<T> view_;
};

/// A block of states, of which a body reads and writes the values of its slot. In packed32 slots
/// share words, so a launch refuses that layout.
template <ColumnName column>
struct SlotState {
  static constexpr const char* column_name() { return column.text; }
  static constexpr Reach reach = Reach::writes_slot;

  SlotState() = default;
  KILN_HD SlotState(const StateBlock& states)
      : block_(states) {}  // NOLINT(google-explicit-constructor)

  KILN_HD std::int64_t variables() const { return block_.variables; }
  KILN_HD double get(std::int64_t variable, Slot slot) const {
    return block_.get(variable, slot.index());
  }
  KILN_HD void set(std::int64_t variable, Slot slot, double value) const {
    block_.set(variable, slot.index(), value);
  }

 private:
  friend struct detail::ColumnAccess;
  StateBlock block_;
};

template <class... Stages>
struct Fused;

/// Runs bodies: backends call it for each slot.
struct StageRunner {
  template <class Stage>
  KILN_HD static void run(const Stage& stage, std::int64_t slot) {
    if constexpr (requires { stage.active(); }) {
      if (!stage.active()) return;
    }
    stage(Slot(slot));
  }
  template <class... Stages>
  KILN_HD static void run(const Fused<Stages...>& stages, std::int64_t slot) {
    run_chain(stages.stages, slot);
  }

 private:
  template <class Chain>
  KILN_HD static void run_chain(const Chain& chain, std::int64_t slot) {
    run(chain.first, slot);
    if constexpr (requires { chain.rest; }) run_chain(chain.rest, slot);
  }
};

namespace detail {
// std::tuple is not for device code.
template <class First, class... Rest>
struct StageChain {
  First first;
  StageChain<Rest...> rest;
};
template <class Last>
struct StageChain<Last> {
  Last first;
};
}  // namespace detail

}  // namespace kiln
