// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// A named number, vector or matrix.
struct DataArray {
  std::string name;
  std::vector<std::int64_t> shape;  ///< none for a number; else sizes, the slowest index first
  std::vector<double> values;       ///< row after row, all finite
  std::int64_t line = 0;            ///< of its file, from 1; 0: not from a file
  /// Equal wherever they were read.
  friend bool operator==(const DataArray& a, const DataArray& b) {
    return a.name == b.name && a.shape == b.shape && a.values == b.values;
  }
};

/// The data of a model: named arrays. For a table, the columns in their order.
///
/// The checked accessors serve code that makes models from the data. They throw a ParseError with
/// the source, the line if known, the variable, and the expected form.
class KILN_API ModelData {
 public:
  /// @param source  for messages: a file name.
  explicit ModelData(std::string source = "data") : source_(std::move(source)) {}

  /// @throws InvalidArgument `data.array` if the name is taken or empty, the shape does not fit the
  /// number of values, or a value is not finite.
  void add(DataArray array);

  const std::string& source() const noexcept { return source_; }
  const std::vector<DataArray>& arrays() const noexcept { return arrays_; }
  bool has(const std::string& name) const { return find(name) != nullptr; }

  /// A single number.
  double number(const std::string& name) const;
  /// A whole number in [low, high].
  std::int64_t count(const std::string& name, std::int64_t low, std::int64_t high) const;
  /// A vector; of `size` values unless that is negative, and of at least one.
  const std::vector<double>& vector(const std::string& name, std::int64_t size = -1) const;
  /// A matrix of `rows` rows, row after row.
  const DataArray& matrix(const std::string& name, std::int64_t rows) const;
  /// A vector of whole numbers in [low, high].
  std::vector<std::int32_t> integers(const std::string& name, std::int64_t size, std::int64_t low,
                                     std::int64_t high) const;

  /// Throws the complaint that the variable does not fit.
  [[noreturn]] void refuse(const std::string& name, const std::string& complaint,
                           const std::string& expected) const;

  /// 16 hexadecimal digits that identify names, shapes and values.
  std::string fingerprint() const;

  friend bool operator==(const ModelData& a, const ModelData& b) { return a.arrays_ == b.arrays_; }

 private:
  const DataArray* find(const std::string& name) const;
  const DataArray& at(const std::string& name) const;

  std::string source_;
  std::vector<DataArray> arrays_;
  std::map<std::string, std::size_t> places_;
};

namespace problems {

// Both readers refuse UTF-16, gzip, NUL bytes, texts over 1 GiB, missing values, NaN and
// infinities. Errors: ParseError with file, line and column of up to five issues; IoError if the
// stream fails.

/// Reads a JSON object whose members are numbers or arrays of numbers, up to depth 8 and with
/// equally long rows, as in posteriordb. No other JSON is accepted.
KILN_API ModelData read_data_json(std::istream& in, const std::string& file_name);

/// Reads a table: columns separated by commas, semicolons, tabs or blanks, as in the first line;
/// `#` comment lines and blank lines. If a word of the first line is not a number, that line has
/// the names of the columns; else they are x[1], x[2], ... Names and numbers may be in double
/// quotes.
KILN_API ModelData read_data_csv(std::istream& in, const std::string& file_name);

/// Reads either format: JSON if the first byte that is not blank is '{' or the name ends in
/// `.json`, else a table.
KILN_API ModelData read_data(std::istream& in, const std::string& file_name);

}  // namespace problems
}  // namespace kiln
