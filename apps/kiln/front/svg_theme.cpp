// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front/svg_theme.hpp"

#include <fmt/format.h>

#include <array>

#include "front/front_drawing.hpp"

namespace kiln::cli {
namespace {

struct ThemeColor {
  std::string_view light, variable, dark;
};

// The dark ones are those of the style sheet of pages.
constexpr std::array<ThemeColor, 12> colors{{{ink, "var(--ink)", "#e9e6e1"},
                                             {faint_ink, "var(--faint)", "#a29d95"},
                                             {point_color, "var(--c1)", "#7fb0df"},
                                             {reference_color, "var(--c6)", "#78746d"},
                                             {knee_color, "var(--c0)", "#e98157"},
                                             {extreme_color, "var(--c4)", "#d3ad52"},
                                             {"#a4540a", "var(--c4)", "#d3ad52"},
                                             {grid_color, "var(--rule)", "#3a3835"},
                                             {"#b5b5b5", "var(--faint)", "#a29d95"},
                                             {"#a0a0a0", "var(--faint)", "#a29d95"},
                                             {"#777777", "var(--faint)", "#a29d95"},
                                             {ground_color, "var(--ground)", "#191817"}}};

}  // namespace

std::string themed(std::string svg) {
  for (const auto& [color, variable, dark] : colors) {
    const std::string from = fmt::format("\"{}\"", color), to = fmt::format("\"{}\"", variable);
    for (std::size_t at = svg.find(from); at != std::string::npos; at = svg.find(from, at)) {
      svg.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return svg;
}

std::string with_dark_theme(std::string svg) {
  std::string style = "<style>@media screen and (prefers-color-scheme: dark) {\n";
  for (const auto& [color, variable, dark] : colors) {
    for (const char* const attribute : {"fill", "stroke"}) {
      // Rules of a style sheet go before attributes.
      if (svg.find(fmt::format("{}=\"{}\"", attribute, color)) == std::string::npos) continue;
      style += fmt::format("[{0}=\"{1}\"] {{ {0}: {2} }}\n", attribute, color, dark);
    }
  }
  const std::string_view behind = "</title>\n";
  const std::size_t at = svg.find(behind);
  if (at != std::string::npos) svg.insert(at + behind.size(), style + "}</style>\n");
  return svg;
}

}  // namespace kiln::cli
