// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/fronts/scalarization.hpp"

namespace kiln {

/// Combines the objectives of each slot into one energy, by the weights of its group.
///
/// Violations add `penalty` times their amount. A slot with a NaN has energy +infinity. Class E.
struct KILN_API ScalarizeObjectives {
  static constexpr const char* name = "scalarize_objectives";
  static constexpr const char* summary =
      "combines the objectives of each slot into one energy, with the weights of the group";

  std::int64_t replicas = 0;
  std::int64_t group_size = 1;
  View2<const double> value;         ///< [objectives][slots]
  View1<const double> violation;     ///< [slots]
  View1<const double> ideal, nadir;  ///< [objectives], the box of the normalised objectives
  View2<const double> weight;  ///< [objectives][weights]; group g uses column g modulo weights
  Scalarization scalarization;
  double penalty = 1e3;
  View1<double> energy;               ///< [slots]
  View1<const std::int32_t> rung_of;  ///< [slots], used with `only`
  View1<const std::uint32_t>
      active_rungs;  ///< [rungs], slots of rungs with 0 are left alone; empty: all
  const RunControl* control = nullptr;  ///< may be null: always active

  KILN_HD void operator()(std::int64_t slot) const {
    if (control != nullptr && control->stop != DeviceStop::none) return;
    if (active_rungs && active_rungs[rung_of[slot]] == 0) return;
    energy[slot] = energy_of(slot, violation[slot], [&](std::int64_t k) { return value(k, slot); });
  }

  /// The energy of a slot with the objectives value_of(k).
  template <class ValueOf>
  KILN_HD double energy_of(std::int64_t slot, double violated, const ValueOf& value_of) const {
    const std::int64_t column = slot / group_size % weight.columns;
    const auto y = [&](std::int64_t k) {
      return exact::div(exact::sub(value_of(k), ideal[k]), exact::sub(nadir[k], ideal[k]));
    };
    double e = scalarization(value.rows, y, [&](std::int64_t k) { return weight(k, column); });
    if (!(violated <= 0)) e = exact::add(e, exact::mul(penalty, violated));
    return e == e ? e : exact::infinity();
  }
};

}  // namespace kiln
