// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kiln/engine.hpp"

#include "cli/arguments.hpp"

namespace kiln::cli {

/// A whole number in low .. high. @throws InvalidArgument for any other text
std::int64_t count_in(const std::string& name, const std::string& text, std::int64_t low,
                      std::int64_t high);
/// The same of an option, if it is given.
std::int64_t count_option(const Arguments& arguments, const std::string& name, std::int64_t low,
                          std::int64_t high, std::int64_t otherwise);

/// --fdr: above 0 and at most 1. @throws InvalidArgument for any other text
double rate_option(const Arguments& arguments);

/// --device, --threads and --seed.
RunOptions device_options(const Arguments& arguments);

}  // namespace kiln::cli
