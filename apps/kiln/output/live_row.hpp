// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kiln::cli {

// The row of a terminal that is written over and over again while something takes long. All of it
// may be called by any thread.

/// Whether standard error is a terminal that can write over a row.
bool has_live_row();

/// Shows a text instead of the row that was there, cut off where it would not fit.
void show_live_row(std::string_view text);

/// Takes the row away.
void erase_live_row();

/// Takes it away for good: what is shown later is not seen. For a program that is about to end.
void close_live_row();

}  // namespace kiln::cli
