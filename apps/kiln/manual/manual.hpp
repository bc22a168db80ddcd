// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "commands/commands.hpp"

namespace kiln::cli {

/// The manual page of the program, kiln(1), in the language of man.
std::string program_manual();

/// That of a verb, as kiln-solve(1): from its options and its help.
std::string verb_manual(const Verb& verb);

/// Text as roff shows it as it is: no character of it is a command.
std::string escaped_roff(const std::string& text);

}  // namespace kiln::cli
