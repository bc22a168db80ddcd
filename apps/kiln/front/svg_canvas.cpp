// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front/svg_canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

/// Of a number with a decimal point, which goes too if nothing is left behind it.
std::string without_trailing_zeros(std::string text) {
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// 12.5, 3, 0.25: two digits after the point at most.
std::string number(double value) {
  const std::string text = without_trailing_zeros(fmt::format("{:.2f}", value));
  return text == "-0" ? "0" : text;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

constexpr double character_width = 0.53;  // of the size, on average
constexpr double smallest_shown = 1e-290;

template <class... Args>
void append(std::string& text, fmt::format_string<Args...> form, Args&&... args) {
  fmt::format_to(std::back_inserter(text), form, std::forward<Args>(args)...);
}

}  // namespace

std::string svg_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : clean(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

double text_width(std::string_view text, double size) {
  return character_width * size * static_cast<double>(count_characters(text));
}

std::string shortened(std::string_view text, double size, double width) {
  std::string kept = clean(text);
  if (text_width(kept, size) <= width) return kept;
  while (!kept.empty() && text_width(kept, size) + text_width("...", size) > width) {
    while (!kept.empty() && (static_cast<unsigned char>(kept.back()) & 0xc0) == 0x80) {
      kept.pop_back();  // the rest of a character of several bytes
    }
    if (!kept.empty()) kept.pop_back();
  }
  return kept + "...";
}

SvgCanvas::SvgCanvas(double width, double height, std::string_view title) {
  append(text_,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
         "{1}\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\">\n<title>{2}</title>\n",
         number(width), number(height), svg_escaped(title));
  append(text_, "<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", number(width),
         number(height));
}

SvgCanvas SvgCanvas::within_page(double width, double height, std::string_view title,
                                 std::string_view attributes) {
  SvgCanvas canvas;
  append(canvas.text_, "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" {}>\n",
         number(width), number(height), svg_escaped(title), attributes);
  return canvas;
}

void SvgCanvas::open_group(std::string_view attributes) { append(text_, "<g {}>\n", attributes); }

void SvgCanvas::close_group() { text_ += "</g>\n"; }

void SvgCanvas::line(const Pixel& from, const Pixel& to) {
  append(text_, "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", number(from.x), number(from.y),
         number(to.x), number(to.y));
}

void SvgCanvas::rectangle(const PixelBox& box) {
  append(text_, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", number(box.x),
         number(box.y), number(box.width), number(box.height));
}

void SvgCanvas::circle(const Pixel& center, double radius) {
  append(text_, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", number(center.x), number(center.y),
         number(radius));
}

void SvgCanvas::diamond(const Pixel& center, double radius) {
  append(text_, "<path d=\"M{0} {1}l{2} {2}l-{2} {2}l-{2} -{2}z\"/>\n", number(center.x),
         number(center.y - radius), number(radius));
}

void SvgCanvas::path(const std::vector<std::vector<Pixel>>& pieces) {
  text_ += "<path d=\"";
  for (const std::vector<Pixel>& piece : pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i) {
      append(text_, "{}{} {}", i == 0 ? "M" : "L", number(piece[i].x), number(piece[i].y));
    }
    // Some programs draw nothing at all for a line of no length.
    if (piece.size() == 1) text_ += "h.01";
  }
  text_ += "\"/>\n";
}

void SvgCanvas::text(const Pixel& at, std::string_view text, const TextStyle& style) {
  std::string place = fmt::format("x=\"{}\" y=\"{}\" font-size=\"{}\"", number(at.x), number(at.y),
                                  number(style.size));
  if (style.anchor != "start") append(place, " text-anchor=\"{}\"", style.anchor);
  if (style.bold) place += " font-weight=\"bold\"";
  if (style.upwards) {
    append(place, " transform=\"rotate(-90 {} {})\"", number(at.x), number(at.y));
  }
  const std::string escaped = svg_escaped(text);
  if (style.halo) {
    append(text_,
           "<text {} fill=\"#ffffff\" stroke=\"#ffffff\" stroke-width=\"3\" "
           "stroke-linejoin=\"round\" aria-hidden=\"true\">{}</text>\n",
           place, escaped);
  }
  if (!style.color.empty()) append(place, " fill=\"{}\"", style.color);
  append(text_, "<text {}>{}</text>\n", place, escaped);
}

std::string SvgCanvas::finish() && {
  text_ += "</svg>\n";
  return std::move(text_);
}

PlotScale::PlotScale(double low, double high, double first, double last, int about_ticks,
                     double margin)
    : first_(first), last_(last) {
  const double largest = std::max(std::abs(low), std::abs(high));
  const double middle = low / 2 + high / 2;
  // Values that a plot cannot tell apart are shown as one, in the middle of a range of their size.
  const bool nothing = largest < smallest_shown;
  const bool alike = high - low <= std::max(1e-9 * largest, smallest_shown);
  const double half = nothing ? 1 : alike ? 0.12 * largest : (0.5 + margin) * (high - low);
  low_ = middle - half;
  high_ = middle + half;

  const double wanted = (high_ - low_) / about_ticks;
  exponent_ = static_cast<int>(std::floor(std::log10(wanted)));
  const double power = std::pow(10.0, exponent_);
  int factor = 10;
  for (const int smaller : {5, 2, 1}) {
    if (smaller * power >= 0.8 * wanted) factor = smaller;
  }
  if (factor == 10) {
    factor = 1;
    ++exponent_;
  }
  const double step = factor * std::pow(10.0, exponent_);
  // A tick at an end of the range is within it, however it was rounded.
  const double from = std::ceil(low_ / step - 1e-9);
  const double to = std::floor(high_ / step + 1e-9);
  for (double n = from; n <= to && ticks_.size() < 100; n += 1) ticks_.push_back(n * step);
}

std::string PlotScale::label(double tick) const {
  const double unit = std::pow(10.0, exponent_);
  if (std::abs(tick) < 0.5 * unit) return "0";
  const double largest = std::max(std::abs(low_), std::abs(high_));
  if (largest < 1e6 && exponent_ >= -4) {
    return fmt::format("{:.{}f}", tick, std::max(-exponent_, 0));
  }
  // 1.50e+06 becomes 1.5e6.
  const int leading = static_cast<int>(std::floor(std::log10(std::abs(tick)) + 1e-9));
  const std::string text = fmt::format("{:.{}e}", tick, std::clamp(leading - exponent_, 0, 15));
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e);
  if (digits.find('.') != std::string::npos) digits = without_trailing_zeros(digits);
  return digits + "e" + std::to_string(std::stoi(text.substr(e + 1)));
}

}  // namespace kiln::cli
