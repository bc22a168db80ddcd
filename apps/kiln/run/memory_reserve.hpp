// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::cli {

/// Keeps two pieces back for when memory ends. One is a MiB for libraries that ask for a few bytes
/// where no exception may leave (destructors of JSON, copies of paths) and would end the process:
/// from now on operator new gives it back to the system and tries again; what is too large for it
/// still throws std::bad_alloc. The other is what a checkpoint needs to be written; nothing writes
/// to it, so it is no memory yet.
void keep_memory_back();

/// Whether the MiB is there, after taking it back if it was given away. If not, memory has ended
/// for good, and what was found has to be written with what is left of it.
bool memory_is_kept_back() noexcept;

/// Whether there is something for a checkpoint, after a further try.
bool has_room_for_checkpoint() noexcept;

/// The last checkpoint of a run is written next: gives up what was kept back for it.
void give_room_for_checkpoint() noexcept;

}  // namespace kiln::cli
