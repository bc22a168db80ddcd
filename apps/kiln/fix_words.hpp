// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kiln/errors.hpp"

namespace kiln::cli {

/// The option that says how many replicas a run has: "--chains" of `kiln sample`.
std::string replicas_option(std::string_view verb);

/// What a run with less memory has, of replicas or of draws: "fewer --replicas".
std::string less_memory(bool samples);

/// What mends an error, in the options and commands of the program.
std::string fix_text(const Error& error, std::string_view verb = {});

/// What was expected; where the error does not say, what explains its fix.
std::string expected_text(const Error& error);

}  // namespace kiln::cli
