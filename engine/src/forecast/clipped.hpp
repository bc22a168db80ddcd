// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/forecast/forecast_model.hpp"

namespace kiln {

/// The deviation of LastValueModel: the recent gain of the curve, positive.
double recent_gain(const RunCurve& curve);

/// A prediction whose mean is at most the present best energy, and whose deviation is at least a
/// hundredth of recent_gain(). A mean or deviation that is not finite gives that of LastValueModel.
Prediction clipped(const RunCurve& curve, double mean, double deviation);

}  // namespace kiln
