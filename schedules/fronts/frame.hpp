// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "kiln/kernels/fronts/reference_frame.hpp"
#include "kiln/run_context.hpp"

#include "pool.hpp"
#include "shared/arrays.hpp"

namespace kiln {

/// A matrix in scratch memory of a run, filled with one value; in Schedule::allocate.
inline View2<double> make_matrix(AllocateContext& run, const std::string& name, std::int64_t rows,
                                 std::int64_t columns, double value) {
  return {run.scratch(name, filled(rows * columns, value)).data, rows, columns, columns};
}

template <class T>
View2<const T> read_only(const View2<T>& view) {
  return {view.data, view.rows, view.columns, view.stride};
}

/// Ideal and nadir of the first front of each island.
struct Frame {
  View2<double> ideal, nadir, extreme;

  void allocate(AllocateContext& run, const Pool& pool) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::int64_t m = pool.objectives;
    ideal = make_matrix(run, "frame.ideal", m, pool.islands, infinity);
    nadir = make_matrix(run, "frame.nadir", m, pool.islands, 1);
    extreme = make_matrix(run, "frame.extreme", m * m, pool.islands, infinity);
  }
  /// @param intercepts  whether the nadir is where a plane cuts the axes, see ReferenceFrame.
  void update(RunContext& run, const Pool& pool, bool intercepts) const {
    ReferenceFrame kernel;
    kernel.value = pool.points().value;
    kernel.groups = pool.groups();
    kernel.rank = pool.rank;
    kernel.ideal = ideal;
    kernel.nadir = nadir;
    kernel.extreme = extreme;
    kernel.intercepts = intercepts;
    kernel.control = run.control();
    run.queue().launch(kernel);
  }
};

}  // namespace kiln
