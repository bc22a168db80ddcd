// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace kiln::cli {

/// A JSON document that the program wrote earlier, and how messages call it.
struct DocumentFile {
  std::string name;
  nlohmann::json json;
};

/// What a document must be.
struct DocumentKind {
  std::string file;      ///< in a run folder: "result.json"; "": there are none of this kind
  std::string schema;    ///< "kiln.result/2"
  std::string former;    ///< the schema of the version before, which is read, too
  std::string expected;  ///< for messages: what would have been right
  std::size_t max_bytes = std::size_t{16} << 20;
};

/// Reads the document at `path`, in the run folder `path`, or from standard input if it is `-`.
/// @throws InputError if it cannot be read; ParseError if it is no such document, too long or
/// nested too deep.
DocumentFile read_document(const std::string& path, const DocumentKind& kind);

/// A text as it was given, for read_exact_text(): a string, or where it is no UTF-8 an object whose
/// `escaped` has it as escaped() makes it.
nlohmann::ordered_json exact_text(const std::string& text);

/// @throws ParseError if no text stands there, or one with a NUL, which no argument can have.
std::string read_exact_text(const nlohmann::json& json, const DocumentFile& file,
                            const DocumentKind& kind);

/// A document as text. What could steer a terminal is written as \uNNNN.
/// @param indent  blanks at each level, -1 for a single line
std::string document_text(const nlohmann::ordered_json& json, int indent);

/// What the parser says, without the number that it gives its errors.
std::string json_reason(const nlohmann::json::exception& error);

/// @throws ParseError: the document lacks something, or has it in another form.
[[noreturn]] void refuse_document(const DocumentFile& file, const DocumentKind& kind,
                                  const std::string& why);

}  // namespace kiln::cli
