// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "document_file.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "errors.hpp"
#include "input_file.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

Json parse(std::istream& in, const DocumentFile& file, const DocumentKind& kind) {
  Json json;
  try {
    json = Json::parse(in);
  } catch (const Json::exception& error) {
    refuse_document(file, kind, clean(error.what()));
  }
  const bool right = json.is_object() && json.contains("schema") && json["schema"] == kind.schema;
  if (!right) refuse_document(file, kind, "this is not a document of schema " + kind.schema);
  return json;
}

}  // namespace

void refuse_document(const DocumentFile& file, const DocumentKind& kind, const std::string& why) {
  throw ParseError(file.name, {{0, 0, why, kind.expected}}, 1);
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
  const std::string file =
      fs::is_directory(path, ignored) ? (fs::path(path) / kind.file).string() : path;
  document.name = clean(file);
  std::ifstream in = open_input(file, "expected: " + kind.expected);
  document.json = parse(in, document, kind);
  return document;
}

}  // namespace kiln::cli
