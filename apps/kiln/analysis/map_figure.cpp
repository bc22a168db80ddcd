// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/map_figure.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "front/front_drawing.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "report/page.hpp"

namespace kiln::cli {
namespace {

constexpr double title_size = 17, words_size = 12, words_line = 16;
constexpr std::size_t max_tip_name = 60;

/// Of a character; fonts may be wider than text_width() takes them for.
double character_width(double size) { return 1.15 * text_width("n", size); }

}  // namespace

std::string drawn_name(const InformationMap& map, std::int32_t column, double size) {
  return shortened_name(column_name(map, column),
                        static_cast<std::size_t>(max_name_width / character_width(size)));
}

double drawn_width(const InformationMap& map, std::int32_t column, double size) {
  return character_width(size) * static_cast<double>(display_width(drawn_name(map, column, size)));
}

FigureHeading figure_heading(const std::string& title, const std::string& words, double width) {
  const double room = width - 2 * picture_margin;
  FigureHeading heading;
  heading.title = shortened(capitalized(title), title_size, room);
  heading.lines = wrap(words, static_cast<std::size_t>(room / text_width("n", words_size)));
  heading.height = 44 + words_line * static_cast<double>(heading.lines.size());
  return heading;
}

void draw_heading(SvgCanvas& canvas, const FigureHeading& heading) {
  canvas.text({picture_margin, 30}, heading.title,
              {.color = ink, .size = title_size, .bold = true});
  double y = 50;
  for (const std::string& line : heading.lines) {
    canvas.text({picture_margin, y}, line, {faint_ink, words_size});
    y += words_line;
  }
}

std::string tip_text(const InformationMap& map, const InformationLink& link, InformationUnit unit) {
  std::string text = shortened_name(link_name(map, link), max_tip_name);
  text += fmt::format("\n{} {}", value_text(link.estimate.value, unit), name_of(unit));
  if (is_tested(map)) {
    text +=
        fmt::format(", effective {}\np = {}, q = {}{}", value_text(link.estimate.effective, unit),
                    probability_text(link.estimate.p_value), probability_text(link.q_value),
                    link.significant ? ", significant" : "");
  }
  const std::string remark = remark_of(map, link);
  return remark.empty() ? text : text + "\n" + shortened_name(remark, max_tip_name);
}

std::string page_attributes(double width, double height, const std::vector<FigureTip>& tips) {
  std::string text = fmt::format("class=\"map\" width=\"{:.0f}\" height=\"{:.0f}\"", width, height);
  if (tips.empty()) return text;
  nlohmann::json list = nlohmann::json::array();
  for (const FigureTip& tip : tips) {
    list.push_back({std::round(tip.at.x), std::round(tip.at.y), tip.text});
  }
  return text + fmt::format(" data-near=\"point\" data-tips=\"{}\"", svg_escaped(list.dump()));
}

}  // namespace kiln::cli
