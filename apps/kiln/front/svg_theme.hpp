// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Pictures are drawn in the colours of the light theme, as attributes. What follows gives them the
// others.
namespace kiln::cli {

inline constexpr std::string_view ground_color = "#ffffff", grid_color = "#e9e9e9";

/// A picture for a page: its colours are the variables of the style sheet of the page.
std::string themed(std::string svg);

/// A picture for a file: on screens with a dark theme it is dark. Programs that know no themes show
/// the light one.
std::string with_dark_theme(std::string svg);

}  // namespace kiln::cli
