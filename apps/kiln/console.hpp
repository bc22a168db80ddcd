// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kiln::cli {

/// Results: standard output.
void print_result(std::string_view text);

/// Everything else: standard error. A closed or full standard error never fails a run.
void print_note(std::string_view text);

/// Makes sure that what print_result() got has arrived. @throws IoError
void flush_results();

}  // namespace kiln::cli
