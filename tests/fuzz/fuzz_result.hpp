// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/document_file.hpp"
#include "diagnosis/diagnosis.hpp"
#include "errors.hpp"
#include "fuzz.hpp"
#include "fuzz_text.hpp"
#include "memory_file.hpp"

// What `kiln diagnose` reads.
namespace kiln::test {

/// Reads a result.json: it is refused, or gives a text and a document without control characters.
inline void check_result(const std::string& text) {
  const cli::DocumentKind kind{"result.json", "kiln.result/1", "a result", std::size_t{1} << 20};
  const MemoryFile file(text);
  try {
    const cli::DocumentFile document = cli::read_document(file.path(), kind);
    const cli::Diagnosis run = cli::diagnosis_of(document.json, document.name);
    require(is_clean(cli::diagnosis_text(run)), "what is shown has no control characters");
    require(!cli::diagnosis_json(run).dump().empty(), "there is a document");
  } catch (const ParseError& error) {
    require(error.issues().size() == 1, "an error lists one issue");
  } catch (const nlohmann::json::type_error&) {
    return;  // the program tells both as errors of the file
  } catch (const nlohmann::json::out_of_range&) {
    return;
  }
}

}  // namespace kiln::test
