// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/objective_points.hpp"

namespace kiln {

/// Selects the survivors of a pool, and moves surviving newcomers into the places of residents that
/// do not survive.
///
/// A pool is a group of columns, the residents first. As many points survive as there are
/// residents: by rank, then greater score, then column. Surviving residents keep their place. The
/// i-th surviving newcomer replaces the i-th resident that does not survive: its values, violation,
/// rank and score are copied there, and `source` lists the states to move (GatherStates). Class E.
struct KILN_API SelectSurvivors {
  static constexpr const char* name = "select_survivors";
  static constexpr const char* summary =
      "selects the survivors of each pool, and the place of each surviving newcomer";
  static constexpr std::int64_t block_points = 1024;

  PointGroups groups;             ///< pools, all of the same size
  std::int64_t residents = 0;     ///< of each pool, at most its size
  View2<double> value;            ///< [objectives][columns]
  View1<double> violation;        ///< [columns]; may be empty
  View1<std::int32_t> rank;       ///< [columns]
  View1<double> score;            ///< [columns], no NaN
  View1<std::int32_t> source;     ///< [at least groups x residents]: the newcomer that replaces a
                                  ///< resident, numbered through all pools, or -1
  View1<std::uint64_t> accepted;  ///< [newcomers], counts survivors; may be empty
  View1<std::byte> scratch;       ///< scratch_bytes(), aligned to 256 bytes
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
  KILN_HD std::int64_t newcomers() const { return groups.size - residents; }

  /// Replaces the resident in column `to` by the newcomer in column `from`.
  KILN_HD void settle(std::int64_t group, std::int64_t to, std::int64_t from) const {
    const std::int64_t begin = groups.begin(group);
    const std::int64_t arrival = group * newcomers() + from - begin - residents;
    source[group * residents + to - begin] = static_cast<std::int32_t>(arrival);
    for (std::int64_t k = 0; k < value.rows; ++k) value(k, to) = value(k, from);
    if (violation) violation[to] = violation[from];
    rank[to] = rank[from];
    score[to] = score[from];
    if (accepted) ++accepted[arrival];
  }

  static constexpr std::int64_t scratch_bytes(const PointGroups& groups) {
    const std::int64_t columns = groups.groups * groups.size;
    return groups.size <= block_points ? 0 : 1024 + 33 * columns;
  }
};

}  // namespace kiln
