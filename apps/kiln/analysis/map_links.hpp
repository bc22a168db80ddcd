// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/information/information_map.hpp"

// What the table, the files, the pictures and the page of a map share.
namespace kiln::cli {

/// The unit in which people read information. Files for programs have nats.
enum class InformationUnit : std::uint8_t { nats, bits };

/// "nats" or "bits".
const char* name_of(InformationUnit unit) noexcept;
double in_unit(double nats, InformationUnit unit) noexcept;

/// What was analysed, and how: for the documents on a map.
struct MapOrigin {
  std::string name;                                             ///< of the table or the run folder
  std::vector<std::pair<std::string, std::string>> parameters;  ///< options and their values
};

/// "transfer entropy", "active information storage", ...
const char* words_of(InformationMeasure measure) noexcept;
/// Whether the measure is of a source and a target; else it is of one column.
bool has_source(InformationMeasure measure) noexcept;
/// Whether source and target of each link can be exchanged: the measure is symmetric and no link
/// has a lag.
bool is_symmetric(const InformationMap& map) noexcept;
/// Whether links have p-values.
bool is_tested(const InformationMap& map) noexcept;
/// Whether some link has a lag.
bool has_lags(const InformationMap& map) noexcept;
/// Whether links have different lags.
bool has_several_lags(const InformationMap& map) noexcept;

/// By what links are compared, in nats: the effective value where it is known, else the value.
double strength_of(const InformationLink& link) noexcept;
/// "effective transfer entropy" of a map with surrogates, else "transfer entropy".
std::string strength_words(const InformationMap& map);

/// The links, strongest first; those of unknown strength last; of equals in the order of the map.
/// Of a symmetric map the first link between two columns stands for both directions.
std::vector<const InformationLink*> ranked_links(const InformationMap& map);

/// The name of a column, cleaned; "?" for a number that no column has.
std::string column_name(const InformationMap& map, std::int32_t column);
/// "a -> b", "a <-> b" or "a"; with a lag "a -> b, lag 2".
std::string link_name(const InformationMap& map, const InformationLink& link);
/// What the status of an estimate means: "no information: constant"; "" where there is nothing to
/// say.
std::string remark_of(const InformationMap& map, const InformationLink& link);

/// Of links, or estimates of one column: "12, 3 of them significant"; without surrogates "12".
std::string count_words(const InformationMap& map);
/// "a false discovery rate of 5 %".
std::string rate_words(const InformationMap& map);
/// "2000 rows, 4 columns, 200 surrogates, 4 neighbours": what the estimates are from.
std::string basis_words(const InformationMap& map);

/// An estimate for people, in the unit: "0.1346", "inf", "-" where it is not known.
std::string value_text(double nats, InformationUnit unit);
/// A probability: "0.00498", "-".
std::string probability_text(double probability);

}  // namespace kiln::cli
