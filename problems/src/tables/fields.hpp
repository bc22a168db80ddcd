// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/export.hpp"

namespace kiln::problems::detail {

/// The meaning of a field.
enum class FieldKind : std::uint8_t {
  number,        ///< finite
  comma_number,  ///< finite, with a decimal comma
  missing,
  infinite,  ///< or beyond the range of a double
  text
};

/// Reads a field as the nearest double, without regard to the locale. Exported for the unit tests
/// only; the header is not installed.
///
/// @param text  without quotes and padding
/// @param decimal_commas  whether `1,5` is a number
/// @param value  is set to the number: 1 for `true`, 0 for `false`; NaN if the field is missing
KILN_API FieldKind read_field(std::string_view text, bool decimal_commas, double& value);

}  // namespace kiln::problems::detail
