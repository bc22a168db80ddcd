// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tables/fields.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

#include "readers/csv.hpp"

namespace kiln::problems::detail {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// from_chars knows no plus sign.
std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return plus ? text.substr(1) : text;
}

// Whether the magnitude of a decimal number beyond the range of doubles is below 1.
bool is_tiny(std::string_view number) {
  const std::string_view mantissa = number.substr(0, number.find_first_of("eE"));
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto digit = static_cast<std::int64_t>(mantissa.find_first_of("123456789"));
  std::string_view exponent = number.substr(std::min(mantissa.size() + 1, number.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  const auto [stop, error] =
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (error == std::errc::result_out_of_range) return exponent.starts_with('-');
  return power < digit - point;
}

// Reads a number with a decimal point; false if the text has another form.
bool read_number(std::string_view text, FieldKind& kind, double& value) {
  const std::string_view number = without_plus(text);
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return false;
  kind = FieldKind::number;
  if (error == std::errc::result_out_of_range) {
    value = number.starts_with('-') ? -0.0 : 0.0;
    if (!is_tiny(number)) kind = FieldKind::infinite;
  } else if (!std::isfinite(value)) {
    kind = std::isnan(value) ? FieldKind::missing : FieldKind::infinite;
    if (std::isnan(value)) value = nan;
  }
  return true;
}

bool is_missing(std::string_view text) {
  return stands_for_nothing(text) || text == "-" || text == "None";
}

bool is_one_of(std::string_view text, std::string_view a, std::string_view b, std::string_view c) {
  return text == a || text == b || text == c;
}

}  // namespace

FieldKind read_field(std::string_view text, bool decimal_commas, double& value) {
  FieldKind kind = FieldKind::text;
  if (!text.empty() && read_number(text, kind, value)) return kind;
  if (is_missing(text)) {
    value = nan;
    return FieldKind::missing;
  }
  if (is_one_of(text, "true", "True", "TRUE")) {
    value = 1;
    return FieldKind::number;
  }
  if (is_one_of(text, "false", "False", "FALSE")) {
    value = 0;
    return FieldKind::number;
  }
  if (!decimal_commas) return FieldKind::text;
  const std::string with_point = with_decimal_point(text);
  if (with_point.empty() || !read_number(with_point, kind, value)) return FieldKind::text;
  return kind == FieldKind::number ? FieldKind::comma_number : FieldKind::text;
}

}  // namespace kiln::problems::detail
