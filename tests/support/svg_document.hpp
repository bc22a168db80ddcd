// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Reads SVG documents as Kiln writes them, apart from the code that writes them.
namespace kiln::test {

inline int count_of(std::string_view text, std::string_view part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

/// Whether every ampersand begins one of the five names that XML has.
inline bool ampersands_are_fine(std::string text) {
  for (const char* name : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
    for (std::size_t at; (at = text.find(name)) != std::string::npos;) text[at] = ' ';
  }
  return text.find('&') == std::string::npos;
}

/// What is wrong with the document as XML; nothing if its elements are closed in order, its
/// attributes are quoted, and its texts have no bare brackets and ampersands.
inline std::string complaint_about(const std::string& svg) {
  if (!ampersands_are_fine(svg)) return "a bare ampersand";
  std::vector<std::string> open;
  std::size_t at = 0;
  while ((at = svg.find_first_of("<>", at)) != std::string::npos) {
    if (svg[at] == '>') return "a bare bracket";
    const std::size_t end = svg.find_first_of("<>", at + 1);
    if (end == std::string::npos || svg[end] != '>') return "an element that does not end";
    std::string element = svg.substr(at + 1, end - at - 1);
    at = end + 1;
    if (count_of(element, "\"") % 2 != 0) return "a quote that does not end: " + element;
    const bool closes = element.front() == '/', is_closed = element.back() == '/';
    element.erase(0, closes ? 1 : 0);
    const std::string name = element.substr(0, element.find_first_of(" /"));
    if (closes) {
      if (open.empty() || open.back() != name) return "closed without need: " + name;
      open.pop_back();
      if (open.empty() && at != svg.size() - 1) return "something behind the end";
    } else if (!is_closed) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

/// An element that is drawn.
struct SvgElement {
  std::string name;
  std::map<std::string, std::string> attributes;  ///< with those of the groups around it
  std::string text;                               ///< up to the next element

  double number(const std::string& attribute) const { return std::stod(attributes.at(attribute)); }
  std::string value(const std::string& attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? "" : found->second;
  }
};

/// All elements but groups, in their order.
inline std::vector<SvgElement> svg_elements(const std::string& svg) {
  std::vector<SvgElement> elements;
  std::vector<std::map<std::string, std::string>> groups{{}};
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    if (tag == "/g") groups.pop_back();
    if (tag.starts_with('/')) continue;
    SvgElement element{tag.substr(0, tag.find_first_of(" /")), groups.back(), ""};
    for (std::size_t equals = tag.find("=\""); equals != std::string::npos;) {
      const std::size_t begin = tag.rfind(' ', equals) + 1;
      const std::size_t close = tag.find('"', equals + 2);
      element.attributes[tag.substr(begin, equals - begin)] =
          tag.substr(equals + 2, close - equals - 2);
      equals = tag.find("=\"", close);
    }
    element.text = svg.substr(end + 1, svg.find('<', end) - end - 1);
    if (element.name == "g") {
      groups.push_back(element.attributes);
    } else {
      elements.push_back(std::move(element));
    }
  }
  return elements;
}

struct SvgPlace {
  double x = 0, y = 0;
};

/// The pieces of the attribute `d` of a path of straight lines.
inline std::vector<std::vector<SvgPlace>> pieces_of_path(const std::string& d) {
  std::vector<std::vector<SvgPlace>> pieces;
  for (std::size_t at = d.find_first_of("ML"); at != std::string::npos;
       at = d.find_first_of("ML", at + 1)) {
    if (d[at] == 'M') pieces.emplace_back();
    const std::size_t blank = d.find(' ', at);
    pieces.back().push_back({std::stod(d.substr(at + 1)), std::stod(d.substr(blank + 1))});
  }
  return pieces;
}

}  // namespace kiln::test
