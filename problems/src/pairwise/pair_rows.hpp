// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/objectives/device_bundle.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// The order, the classes and the rows of a plan in the bundle of a model. PairwiseView and
/// CategoricalView have them under the same names.
class PairRows {
 public:
  /// Stages the arrays. @pre the plan outlives the bundle.
  PairRows(const PairwisePlan& plan, DeviceBundle& bundle)
      : class_begin_(bundle.add_lasting(plan.class_begin)),
        variable_(bundle.add_lasting(plan.variable)),
        row_begin_(bundle.add_lasting(plan.row_begin)),
        entries_(bundle.add_lasting(plan.entries)),
        weights_f64_(bundle.add_lasting(plan.weights_f64)) {}

  /// Fills in what `view` says of them. @pre the bundle was uploaded.
  template <class View>
  void describe(const PairwisePlan& plan, DeviceBundle& bundle, View& view) const {
    view.n_variables = plan.n_variables;
    view.n_sites = plan.n_sites();
    view.n_classes = plan.n_classes;
    view.max_coupling_sum = plan.max_coupling_sum;
    view.arithmetic = plan.arithmetic;
    view.sequential = plan.sequential;
    view.class_begin = bundle.view(class_begin_);
    view.variable = bundle.view(variable_);
    view.row_begin = bundle.view(row_begin_);
    view.entries = bundle.view(entries_);
    view.weights_f64 = bundle.view(weights_f64_);
  }

 private:
  DeviceBundle::Place<std::int32_t> class_begin_, variable_;
  DeviceBundle::Place<std::int64_t> row_begin_;
  DeviceBundle::Place<PairEntry> entries_;
  DeviceBundle::Place<double> weights_f64_;
};

}  // namespace kiln::problems
