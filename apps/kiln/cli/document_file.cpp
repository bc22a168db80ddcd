// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/document_file.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string_view>

#include "errors.hpp"
#include "output/text.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

using SortedJson = nlohmann::json;

// Documents of the program have a third of it.
constexpr int max_depth = 32;

// Whether arrays and objects are nested deeper than documents of the program are.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Whether it has the same name as a schema and a later version: "kiln.result/3" of "kiln.result/2".
bool is_newer(const SortedJson& schema, const std::string& known) {
  if (!schema.is_string()) return false;
  const auto text = schema.get<std::string>();
  const std::size_t slash = known.find('/');
  if (text.substr(0, slash + 1) != known.substr(0, slash + 1)) return false;
  const std::optional<double> version = number_in(text.substr(slash + 1));
  return version && *version > *number_in(known.substr(slash + 1));
}

[[noreturn]] void refuse_schema(const SortedJson& json, const DocumentFile& file,
                                const DocumentKind& kind) {
  if (!json.is_object() || !json.contains("schema") || !is_newer(json["schema"], kind.schema)) {
    refuse_document(file, kind, "the document does not have the schema " + kind.schema);
  }
  const std::string schema = clean(json["schema"].get<std::string>());
  throw ParseError(file.name,
                   {{0, 0,
                     "the document has the schema " + schema + ", which is newer than " +
                         kind.schema + " of this version of Kiln",
                     kind.expected}},
                   1, "use the version of Kiln that wrote the document, or a later one");
}

SortedJson parse(std::istream& in, const DocumentFile& file, const DocumentKind& kind) {
  const std::string text = read_all(in, file.name, kind.max_bytes);
  if (is_too_deep(text)) {
    refuse_document(
        file, kind,
        "arrays and objects are nested more than " + std::to_string(max_depth) + " levels deep");
  }
  SortedJson json;
  try {
    json = SortedJson::parse(text);
  } catch (const SortedJson::exception& error) {
    refuse_document(file, kind, json_reason(error));
  }
  const bool right = json.is_object() && json.contains("schema") &&
                     (json["schema"] == kind.schema || json["schema"] == kind.former);
  if (!right) refuse_schema(json, file, kind);
  return json;
}

}  // namespace

std::string json_reason(const nlohmann::json::exception& error) {
  const std::string what = clean(error.what());
  return what.substr(what.starts_with('[') ? what.find("] ") + 2 : 0);
}

void refuse_document(const DocumentFile& file, const DocumentKind& kind, const std::string& why) {
  throw ParseError(file.name, {{0, 0, why, kind.expected}}, 1);
}

nlohmann::ordered_json exact_text(const std::string& text) {
  if (is_utf8(text)) return text;
  return {{"escaped", escaped(text)}};
}

std::string read_exact_text(const SortedJson& json, const DocumentFile& file,
                            const DocumentKind& kind) {
  const bool plain = json.is_string();
  if (!plain && !(json.is_object() && json.contains("escaped") && json["escaped"].is_string())) {
    refuse_document(file, kind,
                    "a text value is neither a string nor an object with the key 'escaped'");
  }
  const std::string written = (plain ? json : json["escaped"]).get<std::string>();
  const std::optional<std::string> text = plain ? written : unescaped(written);
  if (!text)
    refuse_document(file, kind,
                    "an escaped text has a backslash that is not followed by \\ or xNN");
  if (text->find('\0') != std::string::npos) refuse_document(file, kind, "a text has a NUL");
  return *text;
}

std::string document_text(const nlohmann::ordered_json& json, int indent) {
  const std::string text = json.dump(indent);
  const bool harmless = clean_lines(text) == text;
  return (harmless ? text : json.dump(indent, ' ', true)) + "\n";
}

DocumentFile read_document(const std::string& path, const DocumentKind& kind) {
  namespace fs = std::filesystem;
  DocumentFile document;
  if (path == "-") {
    document.name = "standard input";
    document.json = parse(std::cin, document, kind);
    return document;
  }
  std::error_code ignored;
  const std::string file = !kind.file.empty() && fs::is_directory(path, ignored)
                               ? (fs::path(path) / kind.file).string()
                               : path;
  document.name = clean(file);
  // A pipe in place of a file of a run folder has no writer, and a device no end.
  const fs::file_status status = fs::status(file, ignored);
  const bool of_a_folder = !kind.file.empty() && fs::path(file).filename() == kind.file;
  if (of_a_folder && fs::exists(status) && !fs::is_regular_file(status) &&
      !fs::is_directory(status)) {
    throw InputError("input.open", document.name + ": this is no regular file",
                     "expected: " + kind.expected, "name the folder of a run");
  }
  std::ifstream in = open_input(file, "expected: " + kind.expected);
  document.json = parse(in, document, kind);
  return document;
}

}  // namespace kiln::cli
