// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "text_reader.hpp"

namespace kiln::problems::detail {

/// canonicalize() for what a reader has checked line by line: the one error that is left, a sum of
/// repeated coefficients that overflows, is the file's and not the caller's.
template <class Problem>
std::int64_t merge_or_refuse(Problem& problem, TextReader& text) {
  try {
    return canonicalize(problem);
  } catch (const InvalidArgument& error) {
    text.fail_file(error.message(), error.expected());
  }
}

inline ReadReport report_of_merging(std::int64_t n_merged, std::string_view plural) {
  ReadReport report{n_merged, {}};
  if (n_merged > 0) {
    report.notes.push_back("number of repeated " + std::string(plural) +
                           " whose coefficients Kiln added up: " + std::to_string(n_merged));
  }
  return report;
}

}  // namespace kiln::problems::detail
