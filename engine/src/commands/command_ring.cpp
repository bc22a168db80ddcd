// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/commands/command_ring.hpp"

#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace kiln {

struct CommandRing::Parts {
  struct Beside {
    CommandData data;
    OnOutcome on_outcome;
  };

  std::size_t waiting() const noexcept { return static_cast<std::size_t>(posted - taken); }
  Post post(const Command& command, CommandData& data, OnOutcome& on_outcome);
  void count(bool applied) noexcept { applied ? ++counts.applied : ++counts.refused; }

  mutable std::mutex mutex;
  std::condition_variable_any came, went;
  std::array<Command, slots> ring;
  std::array<Beside, slots> beside;
  std::uint64_t posted = 0, taken = 0;  // so far
  std::uint64_t sequence = 0;           // of commands that the ring makes itself
  std::function<void()> wake;
  bool woken = false;    // since the run began to take
  OnOutcome on_outcome;  // of the command that was taken last
  CommandCounts counts;
  std::optional<std::string> closed;  // why
};

// With the lock. The run is woken once, however many commands come before it begins to take.
CommandRing::Post CommandRing::Parts::post(const Command& command, CommandData& data,
                                           OnOutcome& outcome) {
  if (closed) return Post::closed;
  if (waiting() == slots) return Post::full;
  const std::size_t slot = posted % slots;
  ring[slot] = command;
  beside[slot] = {std::move(data), std::move(outcome)};
  ++posted;
  if (wake && !std::exchange(woken, true)) wake();
  came.notify_one();
  return Post::taken;
}

CommandRing::CommandRing() : parts_(std::make_unique<Parts>()) {}

CommandRing::~CommandRing() { close("its run is gone"); }

CommandRing::Post CommandRing::post(CommandKind kind, CommandData data, OnOutcome on_outcome) {
  const std::lock_guard lock(parts_->mutex);
  Command command;
  command.kind = kind;
  command.sequence = parts_->sequence;
  const Post post = parts_->post(sealed(command), data, on_outcome);
  if (post == Post::taken) ++parts_->sequence;
  return post;
}

CommandRing::Post CommandRing::post(const Command& command, CommandData data,
                                    OnOutcome on_outcome) {
  const std::lock_guard lock(parts_->mutex);
  return parts_->post(command, data, on_outcome);
}

CommandRing::Post CommandRing::post_waiting(const Command& command, const std::stop_token& stop,
                                            CommandData data, OnOutcome on_outcome) {
  std::unique_lock lock(parts_->mutex);
  const bool free =
      parts_->went.wait(lock, stop, [this] { return parts_->closed || parts_->waiting() < slots; });
  return free ? parts_->post(command, data, on_outcome) : Post::full;
}

void CommandRing::close(const std::string& reason) {
  const std::lock_guard lock(parts_->mutex);
  Parts& p = *parts_;
  if (!p.closed) p.closed = reason;
  for (; p.taken < p.posted; ++p.taken) {
    const OnOutcome on_outcome = std::move(p.beside[p.taken % slots].on_outcome);
    p.beside[p.taken % slots] = {};
    p.count(false);
    CommandOutcome outcome;
    outcome.order = p.taken;
    outcome.code = "commands.closed";
    outcome.reason = *p.closed;
    if (on_outcome) on_outcome(outcome);
  }
  p.went.notify_all();
}

CommandCounts CommandRing::counts() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->counts;
}

void CommandRing::wake_by(std::function<void()> wake) {
  const std::lock_guard lock(parts_->mutex);
  parts_->wake = std::move(wake);
  parts_->woken = parts_->wake && parts_->waiting() > 0;
  if (parts_->woken) parts_->wake();
}

std::size_t CommandRing::begin_to_take() {
  const std::lock_guard lock(parts_->mutex);
  parts_->woken = false;
  return parts_->waiting();
}

std::optional<CommandRing::Taken> CommandRing::take() {
  std::optional<Taken> next;
  const std::lock_guard lock(parts_->mutex);
  Parts& p = *parts_;
  if (p.waiting() == 0) return next;
  const std::size_t slot = p.taken % slots;
  next.emplace(Taken{p.ring[slot], std::move(p.beside[slot].data), p.taken, {}});
  p.on_outcome = std::move(p.beside[slot].on_outcome);
  p.beside[slot] = {};
  ++p.taken;
  next->unreadable = unreadable_because(next->command);
  p.went.notify_one();
  return next;
}

void CommandRing::tell(const CommandOutcome& outcome) {
  OnOutcome on_outcome;
  {
    const std::lock_guard lock(parts_->mutex);
    parts_->count(outcome.applied);
    on_outcome = std::exchange(parts_->on_outcome, {});
  }
  if (on_outcome) on_outcome(outcome);
}

bool CommandRing::wait(const std::stop_token& stop) {
  std::unique_lock lock(parts_->mutex);
  return parts_->came.wait(lock, stop, [this] { return parts_->waiting() > 0; });
}

}  // namespace kiln
