// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench --compare: the rows of this run beside those of an earlier document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kiln::cli {

/// What identifies a row of a suite, and the figure by which it is compared: fields of its JSON.
struct RowFigure {
  std::vector<std::string> name;  ///< fields that make the name that --only searches
  std::vector<std::string> same;  ///< fields in which rows agree that are compared, beside threads
  std::string field;              ///< the figure, as a JSON pointer: "/microseconds/median"
  std::string unit;               ///< for tables
  bool more_is_better = false;
  std::string floor = {};  ///< field that a figure exceeds where it is null; "": nothing is known
};

/// An earlier document of the same suite on the same device.
struct Baseline {
  std::string file;  ///< as messages call it
  nlohmann::json document;
};

/// Reads the document at `path`, or on standard input for "-".
/// @param head  what the document of this run begins with: suite, device, threads
/// @throws InputError, ParseError if it cannot be read, or is of another suite or device.
Baseline read_baseline(const std::string& path, const RowFigure& figure,
                       const nlohmann::ordered_json& head);

enum class Verdict : std::uint8_t {
  slower,
  faster,
  within,
  unknown,  ///< a figure is missing
  missing,  ///< only before
  added,    ///< only now
};

/// One row beside its earlier self.
struct ComparedRow {
  std::string label;
  std::optional<double> before, now;
  Verdict verdict = Verdict::unknown;

  std::optional<double> ratio() const {
    return before && now ? std::optional(*now / *before) : std::nullopt;
  }
};

/// What is compared, and by which measure.
struct ComparedBy {
  const RowFigure& figure;
  double tolerance = 0.05;  ///< a row is slower if it takes more than 1 + tolerance times as long
  bool whole = true;        ///< whether all rows were measured; else none is missing
  std::function<bool(const std::string& name)> wants;  ///< whether a row was to be measured
};

struct Comparison {
  std::string file, version, date;  ///< of the baseline
  std::string unit;
  bool more_is_better = false;
  double tolerance = 0;
  std::vector<ComparedRow> rows;

  std::size_t count(Verdict verdict) const;
  /// Rows that are both before and now, with figures.
  std::size_t compared() const;
  /// Where the figures before come from, in a line.
  std::string source_line() const;
  /// "14 rows: 1 slower, 3 faster, 10 within 5 %"
  std::string summary_line() const;
  std::vector<std::vector<std::string>> table() const;
  nlohmann::ordered_json json() const;
};

/// Rows in the order of this run, then those that are missing.
/// @param document  of this run
/// @throws ParseError if a row of the baseline lacks a field.
Comparison compare(const Baseline& baseline, const nlohmann::ordered_json& document,
                   const ComparedBy& by);

}  // namespace kiln::cli
