// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// What is estimated. All values are in nats.
enum class InformationMeasure : std::uint8_t {
  mutual_information,              ///< I(X; Y), by nearest neighbours
  conditional_mutual_information,  ///< I(X; Y | Z), by nearest neighbours
  transfer_entropy,                ///< I(y[t]; x[t - lag] | past of y), by nearest neighbours
  active_storage,                  ///< I(y[t]; past of y), by nearest neighbours
  entropy,                         ///< H(Y): of bins or values, with the Miller-Madow term
  conditional_entropy,             ///< H(Y | X): of bins or values, with the Miller-Madow term
  binned_mutual_information        ///< I(X; Y) of bins or values, with the Miller-Madow term
};

/// What is wrong with an estimate.
enum class InformationStatus : std::uint8_t {
  ok,
  constant,   ///< a column has one value: no information, the value is 0
  unbounded,  ///< a column is a copy of another one: the value is infinite
  biased      ///< the value changes with k by more than its spread: dependence or dimension is high
};

/// One estimate.
struct InformationEstimate {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  double value = none;   ///< nats
  double spread = none;  ///< estimated standard deviation of the value, nats
  InformationStatus status = InformationStatus::ok;
  std::int64_t points = 0;  ///< rows, or delay vectors, that the estimate is of
  std::int32_t k = 0;       ///< neighbours; 0 for estimates from bins
  /// With surrogates (NaN without): what is left of the value after the mean of the surrogates is
  /// taken off, that mean, their standard deviation, and the p-value (1 + #{>= value}) / (1 + n).
  double effective = none, surrogate_mean = none, surrogate_deviation = none, p_value = none;
  std::vector<double> local;  ///< [points], value of each, mean = value; empty unless asked for
};

/// One estimate of a map: what `source` says of `target`.
struct InformationLink {
  std::int32_t source = -1;  ///< number of a column; -1 for measures of one column
  std::int32_t target = 0;
  std::int32_t lag = 0;  ///< rows; 0 for measures without time
  InformationEstimate estimate;
  /// With surrogates: whether the link stays at the rate of false discoveries of the map, and the
  /// least such rate at which it would (NaN without surrogates).
  bool significant = false;
  double q_value = InformationEstimate::none;
};

/// Estimates between columns. Links are ordered by target, then source, then lag.
struct InformationMap {
  InformationMeasure measure = InformationMeasure::mutual_information;
  std::vector<std::string> names;  ///< of all columns
  std::vector<InformationLink> links;
  std::int64_t rows = 0;               ///< of the table
  std::int64_t surrogates = 0;         ///< of each link; 0: no p-values
  double false_discovery_rate = 0.05;  ///< at which links are significant
  std::vector<std::string> notes;      ///< what the reader should know, one sentence each
  /// With local values: the row of each point, from 0.
  std::vector<std::int32_t> point_rows;
};

/// The name of a status in documents: "ok", "constant", "unbounded", "biased".
KILN_API const char* name_of(InformationStatus status) noexcept;

/// The name of a measure on the command line: "mi", "cmi", "te", "ais", "entropy", "cond-entropy",
/// "binned-mi".
KILN_API const char* name_of(InformationMeasure measure) noexcept;

}  // namespace kiln
