// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/backend.hpp"
#include "kiln/export.hpp"
#include "kiln/information/information_map.hpp"
#include "kiln/information/options.hpp"

namespace kiln {

/// Estimates what sources say of targets, one link for each pair and lag, on any backend with the
/// same result.
///
/// Rows, or delay vectors, with a missing value in a column that is used are left out and counted.
/// A constant column says nothing: value 0, InformationStatus::constant. A copy of a column, or a
/// linear function of it, says everything: infinite, InformationStatus::unbounded. Equal values of
/// a column are told apart by noise of 1e-8 of the width of the column. The notes of the map say
/// all of this.
///
/// Nearest neighbours: Kraskov, Stögbauer, Grassberger, Physical Review E 69 (2004) 066138; with a
/// condition: Frenzel, Pompe, Physical Review Letters 99 (2007) 204101. p-values count surrogates
/// that reach the value; if fewer than 10 do, they come from Student's t distribution with the
/// surrogates' mean and deviation, because maps of many links need p-values below 1 / surrogates.
/// False discoveries: Benjamini, Hochberg, Journal of the Royal Statistical Society B 57 (1995)
/// 289.
///
/// @throws InvalidArgument for options out of range, columns of different lengths, and too few
/// rows; the message has the number that would do.
KILN_API InformationMap estimate_information(const std::vector<Series>& columns,
                                             const InformationColumns& which,
                                             const InformationOptions& options, Backend& backend);

/// I(X; Y) in nats of rows (x[i], y[i]), on the CPU.
/// @throws InvalidArgument as estimate_information()
KILN_API InformationEstimate mutual_information(const std::vector<double>& x,
                                                const std::vector<double>& y,
                                                InformationOptions options = {});

/// I(X; Y | Z) in nats of rows (x[i], y[i], z[i]), on the CPU.
/// @throws InvalidArgument as estimate_information()
KILN_API InformationEstimate conditional_mutual_information(const std::vector<double>& x,
                                                            const std::vector<double>& y,
                                                            const std::vector<double>& z,
                                                            InformationOptions options = {});

/// What source[t - lag] says of target[t] beyond the target's past, in nats, on the CPU.
/// @throws InvalidArgument as estimate_information()
KILN_API InformationEstimate transfer_entropy(const std::vector<double>& source,
                                              const std::vector<double>& target,
                                              InformationOptions options = {});

/// For each p-value the least rate of false discoveries at which its test is among the significant
/// ones (Benjamini, Hochberg, 1995). NaN: not tested, and NaN in the result.
KILN_API std::vector<double> false_discovery_rates(const std::vector<double>& p_values);

}  // namespace kiln
