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
  std::string file;      ///< in a run folder: "result.json"
  std::string schema;    ///< "kiln.result/1"
  std::string expected;  ///< for messages: what would have been right
  std::size_t max_bytes = std::size_t{16} << 20;
};

/// Reads the document at `path`, in the run folder `path`, or from standard input if it is `-`.
/// @throws InputError if it cannot be read; ParseError if it is no such document, too long or
/// nested too deep.
DocumentFile read_document(const std::string& path, const DocumentKind& kind);

/// @throws ParseError: the document lacks something, or has it in another form.
[[noreturn]] void refuse_document(const DocumentFile& file, const DocumentKind& kind,
                                  const std::string& why);

}  // namespace kiln::cli
