// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kiln::problems::detail {

/// The text of one of Kiln's headers that objectives are compiled with, by the name that an include
/// gives it: "kiln/device/dual.hpp". cmake/EmbedHeaders.cmake writes the definition.
/// @throws std::logic_error if it is not embedded
std::string_view embedded_header(std::string_view name);

}  // namespace kiln::problems::detail
