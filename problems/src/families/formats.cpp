// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/problems/csv.hpp"
#include "kiln/problems/readers.hpp"
#include "kiln/problems/table.hpp"

#include "families/model_family.hpp"
#include "families/model_kind.hpp"
#include "readers/csv.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems {

namespace {

using detail::FormatEntry;

const std::vector<FormatEntry>& all_formats() {
  static const std::vector<FormatEntry> all = [] {
    std::vector<FormatEntry> entries;
    for (const detail::ModelFamily& family : detail::model_families()) {
      entries.insert(entries.end(), family.formats.begin(), family.formats.end());
    }
    return entries;
  }();
  return all;
}

const FormatEntry* find_format(std::string_view name) {
  const auto found = std::ranges::find(
      all_formats(), name, [](const FormatEntry& entry) { return entry.info.format.name; });
  return found == all_formats().end() ? nullptr : &*found;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

const FormatEntry* format_by_suffix(const std::string& path) {
  std::string name = lower_case(path);
  for (const std::string_view packed : {".gz", ".xz", ".zst"}) {
    if (name.ends_with(packed)) {
      name.resize(name.size() - packed.size());
      break;
    }
  }
  for (const FormatEntry& entry : all_formats()) {
    const auto fits = [&](const std::string& suffix) { return name.ends_with(suffix); };
    if (std::ranges::any_of(entry.info.suffixes, fits)) return &entry;
  }
  return nullptr;
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

/// The line that words stand in, from the first to the last.
std::string_view line_of(const std::vector<detail::Token>& words) {
  const char* const begin = words.front().text.data();
  const std::string_view last = words.back().text;
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

/// What to do with files of other kinds.
constexpr const char* with_tours =
    "Kiln does not read tours (TSPLIB) yet; in C++, a tour is a state of Space::permutation(n): "
    "see docs/guides/embedding.md";
constexpr const char* with_clauses =
    "Kiln does not read clauses (cnf, wcnf) yet; write each clause as a penalty term of a QUBO: "
    "see docs/formats.md";

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
  return "if the file is a table of measurements: " +
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
      shown, {{0, 0, "neither the name nor the first line identifies the format", known_formats()}},
      1, std::move(fix));
}

const FormatEntry* format_by_magic(std::string_view first_bytes) {
  for (const FormatEntry& entry : all_formats()) {
    const std::string_view magic = entry.signature.magic;
    if (!magic.empty() && first_bytes.starts_with(magic)) return &entry;
  }
  return nullptr;
}

/// By what only one format has: its comments, or a header `p KIND ...`.
const FormatEntry* format_by_mark(const std::vector<detail::Token>& words) {
  const bool header = words.size() > 1 && words[0].text == "p";
  for (const FormatEntry& entry : all_formats()) {
    const detail::Signature& signature = entry.signature;
    const std::string_view comment = signature.comment;
    if (!comment.empty() && words[0].text.starts_with(comment)) return &entry;
    if (header && std::ranges::count(signature.kinds, words[1].text) > 0) return &entry;
  }
  return nullptr;
}

const FormatEntry* format_by_lines(detail::FirstLines lines) {
  for (const FormatEntry& entry : all_formats()) {
    const auto recognises = entry.signature.recognises;
    if (recognises != nullptr && recognises(lines)) return &entry;
  }
  return nullptr;
}

const FormatEntry& format_by_content(const std::string& name, std::string_view first_bytes) {
  if (first_bytes.empty()) {
    throw ParseError(name, {{0, 0, "the input is empty", known_formats()}}, 1);
  }
  if (const FormatEntry* const entry = format_by_magic(first_bytes)) return *entry;
  std::istringstream in{std::string(first_bytes)};
  detail::TextReader text(in, name);
  std::string fix;
  while (text.next_line()) {
    const std::vector<detail::Token>& words = text.words();
    if (words[0].text.starts_with('c')) {  // a comment, unless the columns of a table begin so
      if (words[0].text != "c" && fix.empty()) fix = fix_by_cells(name, line_of(words));
      continue;
    }
    if (const FormatEntry* const entry = format_by_mark(words)) return *entry;
    if (!fix.empty()) break;
    detail::FirstLines lines(text, first_bytes.size());
    if (detail::numbers_of(*lines.line(0)) == 0) fix = fix_by_line(name, words);
    if (const FormatEntry* const entry = format_by_lines(std::move(lines))) return *entry;
    break;
  }
  refuse_unknown(name, std::move(fix));
}

}  // namespace

const std::vector<FormatInfo>& formats() {
  static const std::vector<FormatInfo> all = [] {
    std::vector<FormatInfo> infos;
    for (const FormatEntry& entry : all_formats()) infos.push_back(entry.info);
    return infos;
  }();
  return all;
}

std::int32_t first_number_of(Format format) {
  const FormatEntry* const entry = find_format(format.name);
  if (entry != nullptr) return entry->info.first_number;
  throw InvalidArgument("problem.format", "there is no format '" + std::string(format.name) + "'",
                        known_formats());
}

std::optional<Format> format_by_name(std::string_view name) {
  const FormatEntry* const entry = find_format(name);
  return entry == nullptr ? std::nullopt : std::optional(entry->info.format);
}

Format detect_format(const std::string& path_or_name, std::string_view first_bytes) {
  if (const FormatEntry* const entry = format_by_suffix(path_or_name)) return entry->info.format;
  if (std::string fix = fix_by_suffix(path_or_name); !fix.empty()) {
    refuse_unknown(path_or_name, std::move(fix));
  }
  return format_by_content(path_or_name, first_bytes).info.format;
}

Model read_model(Format format, std::istream& in, const std::string& file_name, ReadReport* report,
                 const ReaderOptions& options) {
  const FormatEntry* const entry = find_format(format.name);
  if (entry == nullptr) {
    throw InvalidArgument("problem.format", "there is no format '" + std::string(format.name) + "'",
                          known_formats());
  }
  return entry->read(in, file_name, report, options);
}

std::vector<Format> formats_of(const Model& model) {
  std::vector<Format> formats;
  for (const ModelKind::Writer& writer : model.kind().writers) formats.push_back(writer.format);
  return formats;
}

Format native_format(const Model& model) { return model.kind().writers.front().format; }

void write_model(std::ostream& out, const Model& model, Format format,
                 const std::vector<std::string>& comments) {
  const ModelKind& kind = model.kind();
  const auto writer = std::ranges::find(kind.writers, format, &ModelKind::Writer::format);
  if (writer != kind.writers.end()) return writer->write(out, model.data(), comments);
  throw InvalidArgument("problem.format",
                        std::string(kind.singular) + " cannot be written in the format '" +
                            std::string(format.name) + "'",
                        {}, "--format " + std::string(native_format(model).name));
}

const std::vector<WrittenKind>& written_kinds() {
  static const std::vector<WrittenKind> all = [] {
    std::vector<WrittenKind> kinds;
    for (const detail::ModelFamily& family : detail::model_families()) {
      for (const ModelKind* const kind : family.kinds) {
        kinds.push_back({std::string(kind->plural), {}});
        for (const ModelKind::Writer& writer : kind->writers) {
          kinds.back().formats.push_back(writer.format);
        }
      }
    }
    return kinds;
  }();
  return all;
}

}  // namespace kiln::problems
