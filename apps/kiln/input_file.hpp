// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

namespace kiln::cli {

/// Opens a file that a user named, to be read byte by byte.
///
/// @param expected, fix  further lines of the message, for Error; may be empty
/// @throws InputError with the code input.open and the reason of the system; for a folder too
std::ifstream open_input(const std::string& path, const std::string& expected = {},
                         const std::string& fix = {});

}  // namespace kiln::cli
