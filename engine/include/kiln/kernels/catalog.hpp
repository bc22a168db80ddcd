// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/bifurcation/kernels.hpp"
#include "kiln/kernels/exchange/kernels.hpp"
#include "kiln/kernels/fronts/kernels.hpp"
#include "kiln/kernels/hamiltonian/kernels.hpp"
#include "kiln/kernels/information/kernels.hpp"
#include "kiln/kernels/landscape/kernels.hpp"
#include "kiln/kernels/linear_algebra/kernels.hpp"
#include "kiln/kernels/population/kernels.hpp"
#include "kiln/kernels/recombination/kernels.hpp"
#include "kiln/kernels/rows/kernels.hpp"
#include "kiln/kernels/run/kernels.hpp"
#include "kiln/kernels/surrogate/kernels.hpp"
#include "kiln/kernels/sweeps/kernels.hpp"

namespace kiln {

/// The components of Kiln, each with the list of its kernels. A kernel in such a list has one
/// launcher per backend, one conformance test, one benchmark and one row in docs/kernels/; a
/// missing launcher, benchmark or conformance case is a link error. Only the names are declared
/// here, so that a new kernel rebuilds little; kiln/kernels/all.hpp, which the build writes, has
/// the definitions.
using Components =
    ComponentList<RunComponent, SweepsComponent, ExchangeComponent, PopulationComponent,
                  HamiltonianComponent, LinearAlgebraComponent, SurrogateComponent, FrontsComponent,
                  RecombinationComponent, InformationComponent, LandscapeComponent,
                  BifurcationComponent, RowsComponent>;

/// Every kernel of Kiln.
using KernelCatalog = Components::Kernels;

/// How closely the backends agree on a kernel: "E" the same bits, "D" double precision with a
/// backend-specific order of sums, "S6" the same draws on paths in double precision. A kernel
/// declares it in a member `accuracy` if it is not "E". Needs the definition of the kernel.
template <class Kernel>
constexpr const char* accuracy_of() {
  if constexpr (requires { Kernel::accuracy; }) {
    return Kernel::accuracy;
  } else {
    return "E";
  }
}

/// Which results of a kernel that is not "E" have the same bits all the same, a clause; "" if there
/// are none. A kernel declares it in a member `equal_bits`. Needs the definition of the kernel.
template <class Kernel>
constexpr const char* equal_bits_of() {
  if constexpr (requires { Kernel::equal_bits; }) {
    return Kernel::equal_bits;
  } else {
    return "";
  }
}

}  // namespace kiln
