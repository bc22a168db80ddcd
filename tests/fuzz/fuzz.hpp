// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/model_data.hpp"
#include "kiln/problems/readers.hpp"

#include "family_parameters.hpp"

// What must hold for any bytes. The fuzzers look for bytes for which it does not; the unit test
// FuzzCorpus holds it against the corpus in every build.
namespace kiln::test {

/// Ends the process, which is how a fuzzer learns of a finding.
[[noreturn]] inline void broken(const std::string& what) {
  std::fprintf(stderr, "broken promise: %s\n", what.c_str());
  std::abort();
}

inline void require(bool holds, const char* what) {
  if (!holds) broken(what);
}

/// Whether a format has a place for the model: coo has none for functions of no variables.
inline bool has_place(Format format, const Model& model) {
  const auto* const qubo = model.as<Qubo>();
  return format != Format::coo || qubo == nullptr || qubo->n > 0;
}

/// Reads a text: it is refused as a ParseError, whose message is returned, or gives a model in
/// canonical form that every format that can hold it gives back.
inline std::string check_reader(Format format, const std::string& text,
                                const ReaderOptions& options = {}) {
  std::istringstream in(text);
  ReadReport report{-1, {"untouched"}};
  Model model;
  try {
    model = problems::read_model(format, in, "f", &report, options);
  } catch (const ParseError& error) {
    require(!error.issues().empty() && error.issues().size() <= 5 &&
                error.total() >= static_cast<std::int64_t>(error.issues().size()),
            "an error lists one to five issues and counts all");
    require(report.duplicates_merged == -1 && report.notes.size() == 1,
            "a reader that refuses leaves the report alone");
    return error.message();
  }
  require(report.duplicates_merged >= 0, "a reader that accepts fills in the report");
  model.fingerprint();  // throws unless the form is canonical
  for (const Format other : problems::formats_of(model)) {
    if (!has_place(other, model)) continue;
    std::stringstream written;
    problems::write_model(written, model, other, {text.substr(0, 100)});
    require(problems::read_model(other, written, "g") == model,
            "what is written reads back as an equal model");
  }
  return "accepted";
}

/// Reads the data of a model: they are refused as a ParseError, whose message is returned, or give
/// arrays whose values are finite and fill their shapes.
inline std::string check_data(const std::string& text) {
  std::istringstream in(text);
  ModelData data;
  try {
    data = problems::read_data(in, "f");
  } catch (const ParseError& error) {
    require(!error.issues().empty() && error.issues().size() <= 5 &&
                error.total() >= static_cast<std::int64_t>(error.issues().size()),
            "an error lists one to five issues and counts all");
    return error.message();
  }
  require(!data.arrays().empty() && data.fingerprint().size() == 16, "data that are read are some");
  ModelData again;  // add() throws unless name, shape and values are as they should be
  for (const DataArray& array : data.arrays()) again.add(array);
  require(again == data, "arrays are equal to themselves");
  return "accepted";
}

/// Reads `family:parameters`: it is refused as an InvalidArgument, whose code and message are
/// returned, or the parameters written out give the same parameters again. Nothing is generated.
inline std::string check_family(const std::string& text) {
  using problems::detail::parse_parameters;
  const std::size_t colon = std::min(text.find(':'), text.size());
  try {
    const problems::detail::Family& family = problems::detail::find_family(text.substr(0, colon));
    const problems::detail::FamilyParameters parsed =
        parse_parameters(family, text.substr(std::min(colon + 1, text.size())));
    std::string again;
    try {
      again = family.print(parsed);
      require(parse_parameters(family, again) == parsed,
              "parameters that are written out read back equal");
    } catch (const InvalidArgument& error) {
      broken("'" + again + "' is refused: " + error.what());
    }
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message();
  }
  return "accepted";
}

}  // namespace kiln::test
