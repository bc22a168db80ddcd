// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::cli {

/// Keeps a MiB back for when memory ends. Libraries that are used here ask for a few bytes where
/// no exception may leave (destructors of JSON, copies of paths) and would end the process. From
/// now on operator new gives the MiB back to the system and tries again; what is too large for
/// that still throws std::bad_alloc.
void keep_memory_back();

/// Whether the MiB is there, after taking it back if it was given away. If not, memory has ended
/// for good, and what was found has to be written with what is left of it.
bool memory_is_kept_back() noexcept;

}  // namespace kiln::cli
