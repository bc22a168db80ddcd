// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kiln/commands/command.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Called once with what became of a command, by the thread of the run or by that of close(). It
/// must not wait for the run, throw, or call the ring.
using OnOutcome = std::function<void(const CommandOutcome&)>;

/// Brings commands from any number of threads to one run, in the order of their arrival.
class KILN_API CommandRing {
 public:
  static constexpr std::size_t slots = 256;

  enum class Post : std::uint8_t {
    taken,  ///< OnOutcome follows
    full,   ///< post it again after a tick
    closed  ///< no run takes commands any more
  };

  CommandRing();
  ~CommandRing();
  CommandRing(const CommandRing&) = delete;
  CommandRing& operator=(const CommandRing&) = delete;

  // For senders, from any thread.
  /// Posts a command of this version.
  Post post(CommandKind kind, CommandData data = {}, OnOutcome on_outcome = {});
  /// Posts a command as it is. One that cannot be read takes its place, is refused and counted, and
  /// the run goes on.
  Post post(const Command& command, CommandData data = {}, OnOutcome on_outcome = {});
  /// The same, and waits for a free slot. Gives `full` if the stop was requested before.
  Post post_waiting(const Command& command, const std::stop_token& stop, CommandData data = {},
                    OnOutcome on_outcome = {});
  /// Refuses what stands in the ring and what comes later.
  void close(const std::string& reason);
  CommandCounts counts() const;

  // For the run, from its thread.
  struct Taken {
    Command command;
    CommandData data;
    std::uint64_t order = 0;
    std::string unreadable;  ///< why the run refuses the command; empty: it can be read
  };
  /// A function that is called when a command comes and none stood in the ring; empty: none is. It
  /// is called at once if commands stand in the ring.
  void wake_by(std::function<void()> wake);
  /// Takes part of the commands: those that came before this call. Later ones call wake_by().
  std::size_t begin_to_take();
  std::optional<Taken> take();
  /// Tells the sender of the command that was taken last.
  void tell(const CommandOutcome& outcome);
  /// Waits until a command stands in the ring. False: the stop was requested.
  bool wait(const std::stop_token& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kiln
