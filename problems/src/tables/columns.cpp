// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tables/columns.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kiln/errors.hpp"

#include "readers/text_reader.hpp"
#include "tables/delimiter.hpp"

namespace kiln::problems::detail {
namespace {

constexpr std::size_t max_names_in_note = 3;
constexpr std::size_t max_names_in_error = 20;

// "'a', 'b', 'c' and 4 more"
std::string quoted_list(std::span<const std::string> names) {
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), max_names_in_note); ++i) {
    list += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  if (names.size() <= max_names_in_note) return list;
  return list + " and " + std::to_string(names.size() - max_names_in_note) + " more";
}

[[noreturn]] void refuse_column(const std::string& wanted, const std::vector<std::string>& names,
                                const std::string& file_name, const std::string& option) {
  const std::string near = nearest_name(wanted, names);
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), max_names_in_error); ++i) {
    all += (i == 0 ? "" : ", ") + printable(names[i]);
  }
  if (names.size() > max_names_in_error) {
    all += " and " + std::to_string(names.size() - max_names_in_error) + " more";
  }
  throw InvalidArgument(
      "table.column",
      file_name + " has no column '" + printable(wanted) + "'" +
          (near.empty() ? "" : "; the nearest is '" + printable(near) + "'"),
      "available: " + all + ", or a number from 1 to " + std::to_string(names.size()),
      near.empty() ? std::string() : "--" + option + " " + printable(near));
}

// "column 'a' is" or "columns 'a', 'b' are"
std::string columns_are(std::span<const std::string> names) {
  return (names.size() == 1 ? "column " : "columns ") + quoted_list(names) +
         (names.size() == 1 ? " is" : " are");
}

}  // namespace

std::vector<std::string> names_of_columns(std::vector<std::string> texts,
                                          std::vector<std::string>& notes) {
  std::unordered_set<std::string> taken(texts.begin(), texts.end());
  std::unordered_set<std::string> used;
  std::unordered_map<std::string, std::int64_t> repetitions;
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string& name = texts[i];
    const bool has_name = !name.empty();
    if (!has_name) name = "column " + std::to_string(i + 1);
    if ((has_name || !taken.contains(name)) && used.insert(name).second) {
      if (!has_name) changed.push_back(name);
      continue;
    }
    const std::string base = name;
    std::int64_t& n = repetitions.try_emplace(base, 1).first->second;
    do {
      name = base + " (" + std::to_string(++n) + ")";
    } while (taken.contains(name) || !used.insert(name).second);
    changed.push_back(name);
  }
  if (!changed.empty()) {
    notes.push_back("columns without a unique name are called " + quoted_list(changed));
  }
  return texts;
}

std::vector<std::size_t> find_columns(const std::vector<std::string>& wanted,
                                      const std::vector<std::string>& names,
                                      const std::string& file_name, const std::string& option) {
  std::unordered_map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < names.size(); ++i) by_name.emplace(names[i], i);
  std::vector<std::size_t> columns;
  std::vector<bool> found(names.size());
  for (const std::string& one : wanted) {
    const auto named = by_name.find(one);
    std::size_t number = 0;
    const auto [stop, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    const bool is_number = error == std::errc() && stop == one.data() + one.size();
    if (named == by_name.end() && (!is_number || number < 1 || number > names.size())) {
      refuse_column(one, names, file_name, option);
    }
    const std::size_t column = named != by_name.end() ? named->second : number - 1;
    if (!found[column]) columns.push_back(column);
    found[column] = true;
  }
  return columns;
}

ColumnCollector::ColumnCollector(std::vector<std::string> names,
                                 const std::vector<std::size_t>& columns, bool all_wanted,
                                 char delimiter)
    : delimiter_(delimiter), columns_(columns.size()), kept_(names.size(), -1) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    kept_[columns[i]] = static_cast<std::int32_t>(i);
    columns_[i].name = std::move(names[columns[i]]);
    columns_[i].number = static_cast<std::int64_t>(columns[i]) + 1;
    columns_[i].wanted = all_wanted;
  }
}

std::string ColumnCollector::expected_fields() const {
  const std::string number = std::to_string(kept_.size());
  return kept_.size() == 1 ? "1 field, as in the first row"
                           : number + " fields, separated by " + name_of_delimiter(delimiter_) +
                                 ", as in the first row";
}

void ColumnCollector::take(RowReader& reader) {
  doubts_.clear();
  std::size_t n = 0;
  FieldCursor cursor(reader.row(), delimiter_);
  for (; cursor.next(); ++n) {
    const TableField& field = cursor.field();
    if (!field.well_quoted) {
      reader.complain(field.offset, "the closing quote of the field is not at its end",
                      "two double quotes for each one inside a quoted field");
      return;
    }
    if (n < kept_.size() && kept_[n] >= 0) {
      take_field(reader, field, static_cast<std::size_t>(kept_[n]));
    }
  }
  ++rows_;
  if (n != kept_.size()) {
    reader.complain(0,
                    "the row should have " + std::to_string(kept_.size()) +
                        (kept_.size() == 1 ? " field" : " fields") + " and has " +
                        std::to_string(n),
                    expected_fields());
    return;
  }
  for (const Doubt& doubt : doubts_) complain(reader, doubt);
}

void ColumnCollector::take_field(RowReader& reader, const TableField& field, std::size_t number) {
  TableColumn& column = columns_[number];
  double value = 0;
  const FieldKind kind = read_field(field.text, delimiter_ != ',', value);
  switch (kind) {
    case FieldKind::number:
    case FieldKind::comma_number:
      take_number(reader, value, column);
      if (delimiter_ != ',' && !(comma_ && point_)) check_decimals(reader, field, kind);
      return;
    case FieldKind::missing:
      ++column.missing;
      if (!column.text) column.values.push_back(value);
      return;
    case FieldKind::infinite:
      break;
    case FieldKind::text:
      if (column.wanted || column.has_numbers) break;
      if (column.text) return;
      column.text = TableText{reader.line_of(field.offset), reader.column_of(field.offset),
                              printable(field.text)};
      column.values = {};
      return;
  }
  doubts_.push_back({number, field.offset, printable(field.text), kind});
}

void ColumnCollector::take_number(RowReader& reader, double value, TableColumn& column) {
  if (column.text && !column.has_numbers) {
    if (bad_column_.empty()) bad_column_ = column.name;
    reader.issues().complain(column.text->line, column.text->column,
                             "'" + column.text->text + "' of column '" + printable(column.name) +
                                 "' is not a number, but line " + std::to_string(reader.line()) +
                                 " has a number there",
                             "only numbers and missing values, or only text");
  }
  column.has_numbers = true;
  column.values.push_back(value);
}

// A comma may also separate thousands: that all numbers use the same sign makes this unlikely.
void ColumnCollector::check_decimals(RowReader& reader, const TableField& field, FieldKind kind) {
  std::optional<TableText>& first = kind == FieldKind::comma_number ? comma_ : point_;
  const bool plain = kind == FieldKind::number && field.text.find('.') == std::string_view::npos;
  if (plain || first) return;
  first = TableText{reader.line_of(field.offset), reader.column_of(field.offset),
                    printable(field.text)};
  if (!comma_ || !point_) return;
  reader.issues().complain(comma_->line, comma_->column,
                           "'" + comma_->text + "' has a decimal comma, but '" + point_->text +
                               "' in line " + std::to_string(point_->line) + " has a decimal point",
                           "one decimal separator in the whole table");
}

void ColumnCollector::complain(RowReader& reader, const Doubt& doubt) {
  const TableColumn& column = columns_[doubt.column];
  if (bad_column_.empty()) bad_column_ = column.name;
  const bool infinite = doubt.kind == FieldKind::infinite;
  reader.complain(doubt.offset,
                  "'" + doubt.text + "' of column '" + printable(column.name) +
                      (infinite ? "' is not a finite number" : "' is not a number"),
                  infinite ? "a finite number, or NA to leave the value out"
                           : "a number, or NA for a missing value");
}

std::size_t ColumnCollector::finish(NumericTable& table) {
  std::vector<std::string> texts, empty;
  for (TableColumn& column : columns_) {
    if (!column.has_numbers && !column.wanted) {
      (column.text ? texts : empty).push_back(std::move(column.name));
      continue;
    }
    table.names.push_back(std::move(column.name));
    table.numbers.push_back(column.number);
    table.columns.push_back(std::move(column.values));
    table.missing.push_back(column.missing);
  }
  table.rows = rows_;
  if (comma_) {
    std::string point = comma_->text;
    std::ranges::replace(point, ',', '.');
    table.notes.push_back("numbers have decimal commas: " + comma_->text + " is read as " + point);
  }
  if (!texts.empty()) table.notes.push_back(columns_are(texts) + " text: left out");
  if (!empty.empty()) table.notes.push_back(columns_are(empty) + " without a value: left out");
  return table.names.size();
}

}  // namespace kiln::problems::detail
