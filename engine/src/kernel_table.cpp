// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernel_table.hpp"

#include "kiln/kernels/all.hpp"

namespace kiln {

template <class Kernel>
Launcher<Kernel> launcher_of(const KernelTable& table) {
  return table.launcher<Kernel>();
}

namespace detail {

template <class List>
struct Instances;
template <class... Kernels>
struct Instances<KernelList<Kernels...>> {
  static std::tuple<Launcher<Kernels> (*)(const KernelTable&)...> all() {
    return {&launcher_of<Kernels>...};
  }
};

// Instantiates launcher_of for the whole catalogue: taking its address does, where it must be
// emitted (so this is not in an unnamed namespace). A specialisation is exported only if its kernel
// is (KILN_API), so the definitions must be seen here.
template struct Instances<KernelCatalog>;

}  // namespace detail

}  // namespace kiln
