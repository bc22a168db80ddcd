// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kiln::cli {

/// Results: standard output.
void print_result(std::string_view text);

/// Everything else: standard error. A closed or full standard error never fails a run.
void print_note(std::string_view text);

/// Makes sure that what print_result() got has arrived. Gives false if nobody reads standard output
/// any more. @throws IoError where it cannot be written for another reason.
bool flush_results();

/// Whether both outputs are pipes, or the like, that nobody reads any more.
bool nobody_listens();

}  // namespace kiln::cli
