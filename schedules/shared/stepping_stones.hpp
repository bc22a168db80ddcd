// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/kernels/exchange/ladder_statistics.hpp"

namespace kiln::ladder {

/// What turns the sums of LadderStatistics into log Z. V, which the coordinate weighs, is
/// `offset` + `factor` times its stored value.
struct Stones {
  std::vector<double> width;  ///< [rungs - 1], of the gaps, 1/energy
  double offset = 0, factor = 1;
};

/// log Z of each rung relative to the first, over states of finite energy.
std::vector<double> log_z(const Stones& stones, const std::vector<RungSums>& sums);

/// The standard error of the last of them, by the jackknife over cells; NaN where fewer than four
/// have counted. Where cells are of calls, their correlation from one to the next is allowed for.
/// @par Source  Busing, Meijer, van der Leeden, Statistics and Computing 9 (1999) 3, for cells of
/// different size.
double log_z_error(const Stones& stones, const std::vector<RungSums>& sums,
                   const std::vector<RungCell>& cells, bool of_calls);

}  // namespace kiln::ladder
