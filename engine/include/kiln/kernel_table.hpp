// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>

#include "kiln/kernels/catalog.hpp"
#include "kiln/queue.hpp"

namespace kiln {

namespace detail {
template <class List>
struct LaunchersOf;
template <class... Kernels>
struct LaunchersOf<KernelList<Kernels...>> {
  using type = std::tuple<Launcher<Kernels>...>;
};
}  // namespace detail

/// One launcher per kernel of the catalogue; each backend fills one. There is no way to leave an
/// entry out: a kernel without a launcher on a backend does not link.
class KernelTable {
 public:
  using Launchers = detail::LaunchersOf<KernelCatalog>::type;
  explicit constexpr KernelTable(Launchers launchers) : launchers_(launchers) {}

  template <class Kernel>
  Launcher<Kernel> launcher() const {
    return std::get<Launcher<Kernel>>(launchers_);
  }

 private:
  Launchers launchers_;
};

}  // namespace kiln
