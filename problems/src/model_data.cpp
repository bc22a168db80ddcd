// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/model_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"

#include "readers/data_text.hpp"
#include "readers/text_reader.hpp"
#include "sha256.hpp"

namespace kiln {
namespace {

using problems::detail::printable;

std::string shape_of(const DataArray& array) {
  if (array.shape.empty()) return "a number";
  if (array.shape.size() == 1) return "a vector of " + std::to_string(array.shape[0]);
  std::string text;
  for (const std::int64_t size : array.shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return (array.shape.size() == 2 ? "a matrix of " : "an array of ") + text;
}

bool whole_within(double value, std::int64_t low, std::int64_t high) {
  return value == std::floor(value) && value >= static_cast<double>(low) &&
         value <= static_cast<double>(high);
}

}  // namespace

void ModelData::add(DataArray array) {
  const auto complain = [&](const std::string& what) {
    throw InvalidArgument("data.array",
                          source_ + ": variable '" + printable(array.name) + "' " + what);
  };
  if (array.name.empty()) throw InvalidArgument("data.array", source_ + ": a variable has no name");
  if (places_.contains(array.name)) complain("appears twice");
  std::int64_t size = 1;
  for (const std::int64_t length : array.shape) size *= length;
  if (size != std::ssize(array.values)) {
    complain("is " + shape_of(array) + ", but has " + std::to_string(array.values.size()) +
             " values");
  }
  if (!std::ranges::all_of(array.values, [](double x) { return std::isfinite(x); })) {
    complain("has a value that is not finite");
  }
  places_.emplace(array.name, arrays_.size());
  arrays_.push_back(std::move(array));
}

const DataArray* ModelData::find(const std::string& name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &arrays_[place->second];
}

const DataArray& ModelData::at(const std::string& name) const {
  if (const DataArray* const array = find(name)) return *array;
  std::vector<std::string> names;
  std::string all;
  for (const DataArray& array : arrays_) {
    names.push_back(array.name);
    if (names.size() <= 20) all += (all.empty() ? "" : ", ") + printable(array.name);
  }
  if (names.size() > 20) all += ", ...";
  const std::string near = nearest_name(name, names);
  throw ParseError(source_,
                   {{0, 0,
                     "there is no variable '" + printable(name) + "'" +
                         (near.empty() ? "" : "; the nearest is '" + printable(near) + "'"),
                     "one of " + all}},
                   1);
}

void ModelData::refuse(const std::string& name, const std::string& complaint,
                       const std::string& expected) const {
  const DataArray* const array = find(name);
  throw ParseError(source_,
                   {{array == nullptr ? 0 : array->line, 0,
                     "variable '" + printable(name) + "' " + complaint, expected}},
                   1);
}

double ModelData::number(const std::string& name) const {
  const DataArray& array = at(name);
  if (!array.shape.empty()) refuse(name, "is " + shape_of(array), "a number");
  return array.values.front();
}

std::int64_t ModelData::count(const std::string& name, std::int64_t low, std::int64_t high) const {
  const double value = number(name);
  if (!whole_within(value, low, high)) {
    refuse(name, "is " + detail::show_real(value),
           "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return static_cast<std::int64_t>(value);
}

const std::vector<double>& ModelData::vector(const std::string& name, std::int64_t size) const {
  const DataArray& array = at(name);
  const bool fits =
      array.shape.size() == 1 && !array.values.empty() && (size < 0 || array.shape[0] == size);
  if (!fits) {
    refuse(name, "is " + shape_of(array),
           size < 0 ? "a vector of at least one value" : "a vector of " + std::to_string(size));
  }
  return array.values;
}

const DataArray& ModelData::matrix(const std::string& name, std::int64_t rows) const {
  const DataArray& array = at(name);
  if (array.shape.size() != 2 || array.shape[0] != rows || array.shape[1] < 1) {
    refuse(name, "is " + shape_of(array),
           "a matrix of " + std::to_string(rows) + " rows and at least one column");
  }
  return array;
}

std::vector<std::int32_t> ModelData::integers(const std::string& name, std::int64_t size,
                                              std::int64_t low, std::int64_t high) const {
  std::vector<std::int32_t> integers;
  for (const double value : vector(name, size)) {
    if (!whole_within(value, low, high)) {
      refuse(name, "has the value " + detail::show_real(value),
             "whole numbers from " + std::to_string(low) + " to " + std::to_string(high));
    }
    integers.push_back(static_cast<std::int32_t>(value));
  }
  return integers;
}

std::string ModelData::fingerprint() const {
  problems::detail::Sha256 hash;
  for (const DataArray& array : arrays_) {
    std::string head = array.name + "\n";
    for (const std::int64_t size : array.shape) head += std::to_string(size) + " ";
    hash.update(head + "\n");
    for (const double value : array.values) {
      char bytes[sizeof(double)];
      std::memcpy(bytes, &value, sizeof(double));
      hash.update({bytes, sizeof(double)});
    }
  }
  return hash.hex().substr(0, 16);
}

namespace problems {

ModelData read_data_json(std::istream& in, const std::string& file_name) {
  detail::DataText text(in, file_name);
  return detail::parse_json(text);
}

ModelData read_data_csv(std::istream& in, const std::string& file_name) {
  detail::DataText text(in, file_name);
  return detail::parse_csv(text);
}

ModelData read_data(std::istream& in, const std::string& file_name) {
  detail::DataText text(in, file_name);
  const std::size_t first = text.text().find_first_not_of(" \t\r\n");
  const bool object = first != std::string_view::npos && text.text()[first] == '{';
  return object || file_name.ends_with(".json") ? detail::parse_json(text)
                                                : detail::parse_csv(text);
}

}  // namespace problems
}  // namespace kiln
