// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/problems/fixed_variables.hpp"
#include "kiln/problems/model.hpp"
#include "kiln/problems/readers.hpp"

namespace kiln::cli {

/// What --fix and --fix-file say.
struct FixedOptions {
  std::vector<std::string> texts = {};  ///< NAME=VALUE, several separated by semicolons
  std::string file = {};                ///< "" for none
  bool empty() const { return texts.empty() && file.empty(); }
};

/// The problem of the variables of a model that are not fixed. Variables are named by their
/// numbers, as `format` counts them.
///
/// @throws InputError if the file cannot be read; ParseError for what is wrong in the file;
///   InvalidArgument for what is wrong in a text, and for other models.
Problem fixed_problem(const FixedOptions& options, const Model& model, Format format, Sense sense,
                      const std::string& name);

/// @throws InvalidArgument `cli.conflict`: nothing of this problem can be fixed.
[[noreturn]] void refuse_fixed(const std::string& name);

}  // namespace kiln::cli
