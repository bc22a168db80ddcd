// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "watch/watched_run.hpp"

namespace kiln::cli {

/// What is known of the process of a run.
enum class RunLife : std::uint8_t {
  setting_up,  ///< it has the folder, and no first states yet
  running,
  unknown,  ///< it may be on another machine, and has written nothing for a while
  died,     ///< it has ended without the last event
  finished,
};

/// "running", "died", ...
const char* to_string(RunLife) noexcept;

/// A moment of a run.
struct RunView {
  std::string folder;  ///< as the user wrote it
  const WatchedRun& run;
  RunLife life = RunLife::running;
  double elapsed_s = 0;   ///< now
  double silent_s = 0;    ///< since the files changed
  std::string next = {};  ///< command for a run that died
};

/// The lines of the panel, none wider than `columns`. At most `rows` of them: the first ones say
/// most.
/// @param colors  whether lines may have sequences for bold and coloured letters
std::vector<std::string> panel_lines(const RunView& view, std::size_t columns, std::size_t rows,
                                     bool colors);

/// The line of an event where there is no screen to draw on; "" for an event that says nothing.
std::string event_line(const EventJson& event);

/// The document `kiln.watch/1`.
EventJson watch_json(const RunView& view);

/// How a run ended: its last line, or what happened to its process and the command that goes on.
std::string end_text(const RunView& view);

}  // namespace kiln::cli
