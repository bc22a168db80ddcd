// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kiln/device/stage.hpp"
#include "kiln/fusion/stage_members.hpp"
#include "kiln/kernels/component.hpp"
#include "kiln/queue.hpp"

namespace kiln {

namespace detail {

template <class Kernel>
constexpr std::string_view name_if_complete() {
  if constexpr (requires { Kernel::name; }) {
    return Kernel::name;
  } else {
    return {};
  }
}
/// Whether the kernels of a list that are defined have names of which no two are the same.
template <class... Kernels>
constexpr bool have_different_names(KernelList<Kernels...>) {
  const std::array<std::string_view, sizeof...(Kernels)> names{name_if_complete<Kernels>()...};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!names[i].empty() && names[i] == names[j]) return false;
    }
  }
  return true;
}

}  // namespace detail

/// The component of one kernel, Fused<Stages...>. A backend has it if somebody added a launcher:
///
///     plugin.add_cuda_kernels(kiln::KernelSet<kiln::FusedStages<Kick, Drift>>(
///         &kiln::cuda::launch_slots<kiln::Fused<Kick, Drift>>));
template <class... Stages>
struct FusedStages {
  using Kernels = KernelList<Fused<Stages...>>;
  static_assert((detail::have_different_names(typename ComponentOf<Stages>::Kernels{}) && ...),
                "two kernels of a component have one name: a launcher is found by the names of its "
                "stages");

 private:
  static constexpr std::size_t length = ((std::string_view(ComponentOf<Stages>::name).size() + 1 +
                                          std::string_view(Stages::name).size() + 1) +
                                         ...);
  static constexpr std::array<char, length> joined = [] {
    std::array<char, length> text{};
    std::size_t at = 0;
    const auto add = [&](std::string_view part, char after) {
      for (const char c : part) text[at++] = c;
      text[at++] = after;
    };
    ((add(ComponentOf<Stages>::name, '.'), add(Stages::name, '+')), ...);
    text[at - 1] = '\0';
    return text;
  }();

 public:
  /// "component.stage+component.stage"; names of stages are unique within their component.
  static constexpr const char* name = joined.data();
};

/// Stages in the order in which each slot runs them, as one kernel. fuse() makes it.
template <class... Stages>
struct Fused {
  static constexpr const char* name = FusedStages<Stages...>::name;

  std::int64_t slots = 0;
  detail::StageChain<Stages...> stages;

  /// Enqueues one launch of all stages if the backend has a launcher for it, else a launch of each
  /// stage; both leave the same bits, and Counters::launches tells them apart.
  /// @throws InvalidArgument if the backend lacks the kernels of a stage, too
  void enqueue(Queue& queue) const {
    if (is_one_launch(queue)) return queue.launch(*this);
    launch_each(stages, queue);
  }

  /// Whether enqueue() makes one launch on the queue. A queue that only counts: yes.
  static bool is_one_launch(const Queue& queue) {
    return queue.kernels() == nullptr || queue.kernels()->has(name);
  }

 private:
  template <class Chain>
  static void launch_each(const Chain& chain, Queue& queue) {
    queue.launch(chain.first);
    if constexpr (requires { chain.rest; }) launch_each(chain.rest, queue);
  }
};

template <class... Stages>
FusedStages<Stages...> component_of(const Fused<Stages...>*);

namespace detail {

template <class First, class... Rest>
StageChain<First, Rest...> chain_of(const First& first, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return {first};
  } else {
    return {first, chain_of(rest...)};
  }
}

}  // namespace detail

/// Stages that each slot runs one after the other, without a wait for other slots:
///
///     kiln::fuse(kick, drift, bounce).enqueue(run.queue());
///
/// Does not compile if a stage reads other slots of a column that it or another one writes.
/// @param stages  see kiln/device/stage.hpp; each is a kernel that a component lists
/// @throws InvalidArgument if columns of different names overlap so that slots would see each
///     other (`fuse.overlap`), or stages have different numbers of slots (`fuse.slots`)
template <class... Stages>
Fused<Stages...> fuse(const Stages&... stages) {
  static_assert(sizeof...(Stages) >= 1);
  static_assert((HasComponent<Stages> && ...),
                "fuse() takes kernels that a component lists (KILN_COMPONENT): a backend without "
                "a launcher for all of them launches them one by one");
  static_assert(slots_are_independent<Stages...>,
                "a stage reads other slots of a column that it or another stage writes, and in "
                "one launch no slot waits for the others: launch these stages one by one");
  std::vector<StageAccess> accesses;
  const auto add = [&](const std::vector<StageAccess>& some) {
    accesses.insert(accesses.end(), some.begin(), some.end());
  };
  (add(accesses_of(stages)), ...);
  return {check_accesses(accesses), detail::chain_of(stages...)};
}

namespace detail {
// One launcher serves stages and chains of them.
template <class... Stages>
std::int64_t slots_of(const Fused<Stages...>& chain) {
  return chain.slots;
}
template <class Stage>
std::int64_t slots_of(const Stage& stage) {
  static_assert(slots_are_independent<Stage>,
                "a stage reads other slots of a column that it writes, and in a launch no slot "
                "waits for the others");
  return check_accesses(accesses_of(stage));
}
}  // namespace detail

/// The launcher of a stage, or of Fused stages, on the CPU; kiln/cuda/stages.cuh has that of GPUs.
template <class Kernel>
void launch_slots_on_cpu(const Kernel& kernel, Queue& queue) {
  constexpr std::int64_t slots_of_task = 256;
  const std::int64_t slots = detail::slots_of(kernel);
  queue.for_each_on_host((slots + slots_of_task - 1) / slots_of_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(slots, (task + 1) * slots_of_task);
    for (std::int64_t slot = task * slots_of_task; slot < end; ++slot) {
      StageRunner::run(kernel, slot);
    }
  });
}

}  // namespace kiln
