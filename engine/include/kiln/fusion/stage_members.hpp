// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/device/stage.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// An array that a stage reaches.
struct StageAccess {
  const char* stage = "";
  const char* column = "";
  Reach reach = Reach::reads_slot;
  const void* begin = nullptr;
  std::int64_t rows = 0, columns = 0;  ///< columns: slots, unless it is shared
  std::int64_t stride_bytes = 0;       ///< from a row to the next
  std::int64_t value_bytes = 0;
  const std::type_info* type =
      nullptr;  ///< of a value; a compiler moves loads past stores of others
};

/// Refuses stages whose arrays overlap so that slots would see each other, whose rows overlap, or
/// that have different numbers of slots.
/// @param accesses  of all stages
/// @returns the number of slots, which all stages have
/// @throws InvalidArgument (`fuse.slots`, `fuse.overlap`, `fuse.stride`), and says which stages it
/// is about
KILN_API std::int64_t check_accesses(const std::vector<StageAccess>& accesses);

namespace detail {

struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <class T, class... Members>
constexpr std::size_t count_members() {
  constexpr bool more = requires { T{Members{}..., AnyMember{}}; };
  if constexpr (more && sizeof...(Members) <= 12) {
    return count_members<T, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

/// Calls call(members...) with the members of an aggregate.
template <class Stage, class Call>
constexpr auto with_members(const Stage& stage, const Call& call) {
  static_assert(std::is_aggregate_v<Stage> && std::is_trivially_copyable_v<Stage>,
                "a stage is an aggregate that can be copied to a device: without constructors, "
                "virtual functions and private members");
  constexpr std::size_t count = count_members<Stage>();
  static_assert(count >= 1 && count <= 12, "a stage has 1 to 12 members");
  // clang-format off
  if constexpr (count == 1) { const auto& [a] = stage; return call(a); }
  else if constexpr (count == 2) { const auto& [a, b] = stage; return call(a, b); }
  else if constexpr (count == 3) { const auto& [a, b, c] = stage; return call(a, b, c); }
  else if constexpr (count == 4) { const auto& [a, b, c, d] = stage; return call(a, b, c, d); }
  else if constexpr (count == 5) { const auto& [a, b, c, d, e] = stage; return call(a, b, c, d, e); }
  else if constexpr (count == 6) { const auto& [a, b, c, d, e, f] = stage; return call(a, b, c, d, e, f); }
  else if constexpr (count == 7) { const auto& [a, b, c, d, e, f, g] = stage; return call(a, b, c, d, e, f, g); }
  else if constexpr (count == 8) { const auto& [a, b, c, d, e, f, g, h] = stage; return call(a, b, c, d, e, f, g, h); }
  else if constexpr (count == 9) { const auto& [a, b, c, d, e, f, g, h, i] = stage; return call(a, b, c, d, e, f, g, h, i); }
  else if constexpr (count == 10) { const auto& [a, b, c, d, e, f, g, h, i, j] = stage; return call(a, b, c, d, e, f, g, h, i, j); }
  else if constexpr (count == 11) { const auto& [a, b, c, d, e, f, g, h, i, j, k] = stage; return call(a, b, c, d, e, f, g, h, i, j, k); }
  else if constexpr (count == 12) { const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = stage; return call(a, b, c, d, e, f, g, h, i, j, k, l); }
  // clang-format on
}

// What a member reaches. Types without an overload are refused.
template <class T>
StageAccess access_of_view(const char* column, Reach reach, const View2<T>& view) {
  return {"",
          column,
          reach,
          view.data,
          view.rows,
          view.columns,
          view.stride * static_cast<std::int64_t>(sizeof(T)),
          sizeof(T),
          &typeid(std::remove_cv_t<T>)};
}
// SlotColumn and SharedColumn; nvcc deduces no names of columns.
template <class Column>
requires requires(const Column& column) {
  ColumnAccess::view_of(column), Column::reach, Column::column_name();
}
void add_access(std::vector<StageAccess>& to, const Column& member) {
  to.push_back(access_of_view(Column::column_name(), Column::reach, ColumnAccess::view_of(member)));
}
KILN_API void add_access_of_block(std::vector<StageAccess>& to, const char* column,
                                  const StateBlock& block);
template <class Column>
requires requires(const Column& column) {
  ColumnAccess::block_of(column), Column::reach, Column::column_name();
}
void add_access(std::vector<StageAccess>& to, const Column& member) {
  add_access_of_block(to, Column::column_name(), ColumnAccess::block_of(member));
}
inline void add_access(std::vector<StageAccess>& to, const DrawIds& member) {
  const auto row = [](const auto& view) {
    using T = std::remove_reference_t<decltype(view[0])>;
    return View2<T>{view.data, 1, view.size, view.size};
  };
  // They have the number of slots, and a body can name any.
  for (const Reach reach : {Reach::reads_slot, Reach::reads_shared}) {
    to.push_back(access_of_view("keys of draws", reach, row(member.key)));
    to.push_back(access_of_view("replicas of draws", reach, row(member.replica)));
  }
}
template <class T>
requires std::is_same_v<T, const RunControl*>
void add_access(std::vector<StageAccess>& to, const T& member) {
  to.push_back(access_of_view("control block", Reach::reads_shared,
                              View2<const RunControl>{member, 1, member == nullptr ? 0 : 1, 1}));
}
template <class T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add_access(std::vector<StageAccess>&,
                                                                       const T&) {}

template <class T>
concept StageMember = requires(std::vector<StageAccess>& to, const T& member) {
  add_access(to, member);
};

}  // namespace detail

/// What a stage reaches.
template <class Stage>
std::vector<StageAccess> accesses_of(const Stage& stage) {
  std::vector<StageAccess> all;
  const auto add = [&]<class Member>(const Member& member) {
    static_assert(detail::StageMember<Member>,
                  "members of a stage are SlotColumn, SharedColumn, SlotState, DrawIds, const "
                  "RunControl*, numbers and enumerations: a view or a pointer would hide what the "
                  "body reaches");
    if constexpr (detail::StageMember<Member>) detail::add_access(all, member);
  };
  detail::with_members(stage, [&](const auto&... members) { (add(members), ...); });
  for (StageAccess& access : all) access.stage = Stage::name;
  return all;
}

namespace detail {

template <class... Members>
struct MemberTypes {};
struct ListMembers {
  template <class... Members>
  constexpr MemberTypes<Members...> operator()(const Members&...) const {
    return {};
  }
};
template <class Stage>
using MembersOf = decltype(with_members(std::declval<const Stage&>(), ListMembers{}));

template <class A, class B>
constexpr bool members_collide() {
  if constexpr (requires { A::column_name(), A::reach, B::column_name(), B::reach; }) {
    const bool meet = A::reach == Reach::writes_slot && B::reach == Reach::reads_shared;
    return meet && std::string_view(A::column_name()) == B::column_name();
  }
  return false;
}
template <class A, class... Others>
constexpr bool collides_with(MemberTypes<Others...>) {
  return (members_collide<A, Others>() || ...);
}
template <class... Members, class Others>
constexpr bool any_collide(MemberTypes<Members...>, Others others) {
  return (collides_with<Members>(others) || ...);
}
template <class Stage, class... Stages>
constexpr bool collides() {
  return (any_collide(MembersOf<Stage>{}, MembersOf<Stages>{}) || ...);
}

}  // namespace detail

/// Whether no stage reads other slots of a column that it or another one writes: in one launch no
/// slot waits for the others, so what they read would depend on who is first. By the names of
/// columns; fuse() compares their memory, too.
template <class... Stages>
inline constexpr bool slots_are_independent = !(detail::collides<Stages, Stages...>() || ...);

}  // namespace kiln
