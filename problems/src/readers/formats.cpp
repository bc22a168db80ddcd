// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <sstream>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "text_reader.hpp"

namespace kiln::problems {

namespace {

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::optional<Format> format_by_suffix(const std::string& path) {
  std::string name = lower_case(path);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const FormatInfo& info : formats()) {
    const auto fits = [&](const std::string& suffix) { return name.ends_with(suffix); };
    if (std::ranges::any_of(info.suffixes, fits)) return info.format;
  }
  return std::nullopt;
}

bool is_integer(const detail::Token& word) {
  const char* const end = word.text.data() + word.text.size();
  std::int64_t value = 0;
  return std::from_chars(word.text.data(), end, value).ptr == end;
}

std::string known_formats() {
  std::string list;
  for (const FormatInfo& info : formats()) {
    list += (list.empty() ? "" : "; ") + info.name + " (";
    for (const std::string& suffix : info.suffixes) {
      list += (suffix == info.suffixes.front() ? "" : " ") + suffix;
    }
    list += ")";
  }
  return list;
}

std::string name_of(Format format) {
  const auto found = std::ranges::find(formats(), format, &FormatInfo::format);
  return found == formats().end() ? "?" : found->name;
}

Format format_by_content(const std::string& name, std::string_view first_bytes) {
  std::istringstream in{std::string(first_bytes)};
  detail::TextReader text(in, name);
  while (text.next_line()) {
    const std::vector<detail::Token>& words = text.words();
    if (words[0].text.starts_with('c')) continue;
    if (words[0].text.starts_with('#')) return Format::coo;  // no other format has such comments
    if (words.size() > 1 && words[0].text == "p" && words[1].text == "qubo") return Format::qubo;
    const bool two_or_three = words.size() == 2 || words.size() == 3;
    if (two_or_three && std::ranges::all_of(words, is_integer)) return Format::rudy;
    break;
  }
  text.fail_file("neither the name nor the first line tells the format", known_formats());
}

}  // namespace

const std::vector<FormatInfo>& formats() {
  static const std::vector<FormatInfo> all{
      {Format::rudy,
       "rudy",
       {".rud", ".rudy", ".mc", ".gset", ".graph"},
       "Weighted graph as an edge list with a header, as in the G-set."},
      {Format::qubo,
       "qubo",
       {".qubo"},
       "Quadratic function of binary variables, as read by qbsolv."},
      {Format::coo,
       "coo",
       {".coo", ".ising"},
       "Ising model or quadratic function of binary variables as a list of terms, as in dimod."},
  };
  return all;
}

std::optional<Format> format_by_name(std::string_view name) {
  for (const FormatInfo& info : formats()) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

Format detect_format(const std::string& path_or_name, std::string_view first_bytes) {
  if (const auto format = format_by_suffix(path_or_name)) return *format;
  return format_by_content(path_or_name, first_bytes);
}

PairwiseModel read_model(Format format, std::istream& in, const std::string& file_name,
                         ReadReport* report, const ReaderOptions& options) {
  if (format == Format::rudy) return read_rudy(in, file_name, report);
  if (format == Format::qubo) return read_qubo(in, file_name, report);
  return std::visit([](auto&& model) -> PairwiseModel { return std::move(model); },
                    read_coo(in, file_name, report, options));
}

Format native_format(const PairwiseModel& model) {
  if (std::holds_alternative<Graph>(model)) return Format::rudy;
  return std::holds_alternative<Qubo>(model) ? Format::qubo : Format::coo;
}

void write_model(std::ostream& out, const PairwiseModel& model, Format format,
                 const std::vector<std::string>& comments) {
  const auto* const graph = std::get_if<Graph>(&model);
  const auto* const qubo = std::get_if<Qubo>(&model);
  const auto* const ising = std::get_if<Ising>(&model);
  if (graph != nullptr && format == Format::rudy) return write_rudy(out, *graph);
  if (qubo != nullptr && format == Format::qubo) return write_qubo(out, *qubo, comments);
  if (qubo != nullptr && format == Format::coo) return write_coo(out, *qubo, comments);
  if (ising != nullptr && format == Format::coo) return write_coo(out, *ising, comments);
  const std::string kind = graph != nullptr  ? "a graph"
                           : qubo != nullptr ? "a QUBO"
                                             : "an Ising model";
  throw InvalidArgument("problem.format",
                        kind + " cannot be written in the format '" + name_of(format) + "'", {},
                        "--format " + name_of(native_format(model)));
}

}  // namespace kiln::problems
