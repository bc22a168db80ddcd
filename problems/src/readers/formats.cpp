// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/problems/csv.hpp"
#include "kiln/problems/readers.hpp"
#include "kiln/problems/table.hpp"

#include "csv.hpp"
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

/// The format whose header is `p KIND ...`.
std::optional<Format> format_of_header(std::string_view kind) {
  if (kind == "qubo") return Format::qubo;
  if (kind == "potts") return Format::potts;
  if (kind == "edge" || kind == "edges" || kind == "col") return Format::col;
  return std::nullopt;
}

/// The line that words stand in, from the first to the last.
std::string_view line_of(const std::vector<detail::Token>& words) {
  const char* const begin = words.front().text.data();
  const std::string_view last = words.back().text;
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

bool is_real(std::string_view word) {
  double value = 0;
  return detail::why_no_real(word, value) == nullptr;
}

/// How many numbers a line has; 0 if anything else is in it.
std::size_t numbers_of(const std::vector<detail::Token>& words) {
  std::size_t numbers = 0;
  for (const detail::Token& word : words) {
    for (std::size_t at = 0; at < word.text.size();) {
      const std::size_t end = std::min(word.text.find_first_of(",;", at), word.text.size());
      if (end > at && !is_real(word.text.substr(at, end - at))) return 0;
      numbers += end > at ? 1 : 0;
      at = end + 1;
    }
  }
  return numbers;
}

/// Whether the line is the first of a matrix: numbers, and as many in the next one.
bool begins_matrix(detail::TextReader& text, std::size_t n_bytes) {
  constexpr std::size_t long_row = 32768;  // the next one may lie behind what is seen
  const std::size_t numbers = numbers_of(text.words());
  if (numbers < 2) return false;
  return text.next_line() ? numbers_of(text.words()) == numbers : n_bytes > long_row;
}

/// Whether two more lines of three numbers are all that follows: edges have a header before them.
bool is_three_by_three(detail::TextReader& text) {
  for (int line = 2; line <= 3; ++line) {
    if (!text.next_line() || numbers_of(text.words()) != 3) return false;
  }
  return !text.next_line();
}

/// What to do with files of other kinds.
constexpr const char* with_tours =
    "tours (TSPLIB) are not read yet; in C++ an order is Space::permutation(n), see "
    "docs/guides/embedding.md";
constexpr const char* with_clauses =
    "clauses (cnf, wcnf) are not read yet; as a QUBO each is a penalty, see docs/formats.md";

std::string fix_by_suffix(const std::string& path) {
  const std::string name = lower_case(path);
  const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
  if (ends(".tsp") || ends(".atsp") || ends(".vrp")) return with_tours;
  return ends(".cnf") || ends(".wcnf") ? with_clauses : "";
}

/// A line of names is the first one of a table.
std::string fix_by_cells(const std::string& name, std::string_view line) {
  const auto cells = detail::csv_cells(line, detail::csv_separator(line, {}, ','));
  if (!cells || cells->size() < 2) return "";
  std::string columns;
  for (const detail::CsvCell& cell : *cells) {
    columns += (columns.empty() ? "" : ", ") + csv_cell(cell.text);
  }
  return "for a table of measurements: " +
         table_call(name == "standard input" ? "FILE" : name, cells->back().text) +
         " (columns: " + detail::printable(columns) + ")";
}

std::string fix_by_line(const std::string& name, const std::vector<detail::Token>& words) {
  const std::string first = lower_case(std::string(words[0].text));
  const bool of_tour =
      first.starts_with("name") || first.starts_with("type") || first.starts_with("dimension");
  const bool colon = first.ends_with(':') || (words.size() > 1 && words[1].text == ":");
  if (of_tour && colon) return with_tours;
  const bool header = words.size() > 1 && first == "p";
  if (header && (words[1].text == "cnf" || words[1].text == "wcnf")) return with_clauses;
  return fix_by_cells(name, line_of(words));
}

[[noreturn]] void refuse_unknown(const std::string& name, std::string fix) {
  std::string shown = name;
  std::erase_if(shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  throw ParseError(
      shown, {{0, 0, "neither the name nor the first line tells the format", known_formats()}}, 1,
      std::move(fix));
}

Format format_by_content(const std::string& name, std::string_view first_bytes) {
  if (first_bytes.empty()) {
    throw ParseError(name, {{0, 0, "there is nothing in it", known_formats()}}, 1);
  }
  if (first_bytes.starts_with("\x93NUMPY")) return Format::npy;
  std::istringstream in{std::string(first_bytes)};
  detail::TextReader text(in, name);
  std::string fix;
  while (text.next_line()) {
    const std::vector<detail::Token>& words = text.words();
    if (words[0].text.starts_with('c')) {  // a comment, unless the columns of a table begin so
      if (words[0].text != "c" && fix.empty()) fix = fix_by_cells(name, line_of(words));
      continue;
    }
    if (words[0].text.starts_with('#')) return Format::coo;  // no other format has such comments
    if (words.size() > 1 && words[0].text == "p") {
      if (const auto format = format_of_header(words[1].text)) return *format;
    }
    if (!fix.empty()) break;
    const bool two_or_three = words.size() == 2 || words.size() == 3;
    if (two_or_three && std::ranges::all_of(words, is_integer)) {
      return words.size() == 3 && is_three_by_three(text) ? Format::dense : Format::rudy;
    }
    fix = fix_by_line(name, words);
    const bool numbers = numbers_of(words) > 0;
    if (numbers) fix.clear();
    if (numbers && begins_matrix(text, first_bytes.size())) return Format::dense;
    break;
  }
  refuse_unknown(name, std::move(fix));
}

}  // namespace

const std::vector<FormatInfo>& formats() {
  static const std::vector<FormatInfo> all{
      {Format::rudy,
       "rudy",
       {".rud", ".rudy", ".mc", ".gset", ".graph"},
       "Weighted graph as an edge list with a header, as in the G-set.",
       {"file   = header edge*", "header = <number of vertices> <number of edges>",
        "edge   = <vertex> <vertex> [<weight>]            vertices from 1"},
       "3 3\n1 2 1\n1 3 -2\n2 3 0.5\n"},
      {Format::qubo,
       "qubo",
       {".qubo"},
       "Quadratic function of binary variables, as read by qbsolv.",
       {"file   = comment* header (comment | term)*",
        "header = p qubo 0 <number of variables> <number of diagonal terms> <number of couplings>",
        "term   = <i> <i> <value>  or  <i> <j> <value> with i < j          variables from 0"},
       "c a small one\np qubo 0 4 2 2\n0 0 99.0\n2 2 -48.5\n0 1 2\n1 3 -6.0\n"},
      {Format::coo,
       "coo",
       {".coo", ".ising"},
       "Ising model or quadratic function of binary variables as a list of terms, as in dimod.",
       {"file    = (comment | term)*", "comment = # anything",
        "term    = <i> <j> <value>                       variables from 0"},
       "# vartype=SPIN\n0 0 0.5\n0 1 1\n1 2 1\n0 2 1\n"},
      {Format::potts,
       "pottsmodel",
       {".potts"},
       "Potts model: variables of q values, couplings that count where both values are equal.",
       {"file     = comment* header (comment | field | coupling)*",
        "header   = p potts <number of variables> <number of values> <number of fields> <number of "
        "couplings>",
        "field    = h <i> <value> <amount>               variables and values from 0",
        "coupling = <i> <j> <J>"},
       "c three variables of four values\np potts 3 4 1 3\nh 0 2 -0.5\n0 1 1\n0 2 1\n1 2 1\n"},
      {Format::col,
       "col",
       {".col"},
       "Graph to be coloured, as in the DIMACS collection; `--colors` says with how many colours.",
       {"file   = comment* header (comment | edge | node)*",
        "header = p edge <number of vertices> <number of edges>",
        "edge   = e <vertex> <vertex>                    vertices from 1", "node   = n anything"},
       "c a triangle\np edge 3 3\ne 1 2\ne 1 3\ne 2 3\n"},
      {Format::dense,
       "dense",
       {".dense"},
       "Square matrix Q of a quadratic function x'Qx of bits, or of spins with `--vartype spin`.",
       {"file    = (comment | row)*", "comment = # anything",
        "row     = <value> <value> ...                   apart by blanks, tabs, commas, "
        "semicolons"},
       "-1  2  0\n 0 -1  2\n 0  0 -1\n"},
      {Format::npy,
       "npy",
       {".npy"},
       "The same matrix as numpy.save() writes it; numbers of 1 to 8 bytes, two axes.",
       {"file = array of two axes, saved by numpy.save(file, Q)"},
       ""},
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
  if (std::string fix = fix_by_suffix(path_or_name); !fix.empty()) {
    refuse_unknown(path_or_name, std::move(fix));
  }
  return format_by_content(path_or_name, first_bytes);
}

PairwiseModel read_model(Format format, std::istream& in, const std::string& file_name,
                         ReadReport* report, const ReaderOptions& options) {
  if (format == Format::rudy) return read_rudy(in, file_name, report);
  if (format == Format::qubo) return read_qubo(in, file_name, report);
  if (format == Format::potts) return read_potts(in, file_name, report);
  if (format == Format::col) return read_col(in, file_name, report, options);
  return std::visit(
      [](auto&& model) -> PairwiseModel { return std::forward<decltype(model)>(model); },
      format == Format::dense ? read_dense(in, file_name, report, options)
      : format == Format::npy ? read_npy(in, file_name, report, options)
                              : read_coo(in, file_name, report, options));
}

Format native_format(const PairwiseModel& model) {
  if (std::holds_alternative<Graph>(model)) return Format::rudy;
  if (std::holds_alternative<Potts>(model)) return Format::potts;
  if (std::holds_alternative<Coloring>(model)) return Format::col;
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
  const auto* const potts = std::get_if<Potts>(&model);
  const auto* const coloring = std::get_if<Coloring>(&model);
  if (potts != nullptr && format == Format::potts) return write_potts(out, *potts, comments);
  if (coloring != nullptr && format == Format::col) return write_col(out, *coloring, comments);
  const std::string kind = graph != nullptr      ? "a graph"
                           : qubo != nullptr     ? "a QUBO"
                           : potts != nullptr    ? "a Potts model"
                           : coloring != nullptr ? "a graph to be coloured"
                                                 : "an Ising model";
  throw InvalidArgument("problem.format",
                        kind + " cannot be written in the format '" + name_of(format) + "'", {},
                        "--format " + name_of(native_format(model)));
}

}  // namespace kiln::problems
