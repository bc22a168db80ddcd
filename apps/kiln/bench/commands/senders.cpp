// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/senders.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "kiln/commands/command_ring.hpp"
#include "kiln/registry.hpp"

#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A run measures its ticks and captures graphs at first, and after each quarter of its time.
constexpr std::chrono::milliseconds warm_up(400);
constexpr double longest_wait_s = 4e-3;
constexpr std::uint64_t senders = 2;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

/// Advances the run while `send` sends from another thread, and stops it when all is answered.
template <class Send>
Result advance_with(const OpenedBackend& backend, const CommandedRun& which,
                    const std::shared_ptr<CommandRing>& ring, const Send& send) {
  const Problem problem = make_instance(which.instance);
  const Registry registry = builtin_registry();
  const std::unique_ptr<Schedule> schedule = registry.schedule(which.schedule).make({});
  RunOptions options = which.options;
  options.commands.ring = ring;
  Run run(problem, *schedule, {.time_limit_s = 600}, options, backend);
  std::exception_ptr failure;
  Result result;
  {
    const std::jthread sender([&](const std::stop_token& stop) {
      try {
        std::this_thread::sleep_for(warm_up);
        send(stop);
      } catch (...) {
        failure = std::current_exception();
      }
      ring->post(CommandKind::stop);
    });
    try {
      result = run.advance();
    } catch (...) {
      ring->close("the run has failed");  // the sender waits for an answer
      throw;
    }
  }
  if (failure) std::rethrow_exception(failure);
  return result;
}

/// The answer to one command, handed from the thread of the run to that of the sender.
struct Answer {
  CommandOutcome outcome;
  Clock::time_point at;
  std::atomic<bool> is_there = false;
};

}  // namespace

SentCommands send_single(const OpenedBackend& backend, const CommandedRun& run,
                         std::int64_t commands) {
  SentCommands sent;
  std::vector<SentSingle> all;
  const auto ring = std::make_shared<CommandRing>();
  const auto send = [&](const std::stop_token& stop) {
    std::minstd_rand random(1);
    std::uniform_real_distribution<double> waits(0, longest_wait_s);
    std::optional<CommandOutcome> last;
    const Clock::time_point begin = Clock::now();
    Clock::time_point answered = begin;
    while (sent.sent < commands && !stop.stop_requested()) {
      if (sent.sent % 4 != 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(waits(random)));
      }
      Answer answer;
      const Clock::time_point posted = Clock::now();
      const auto on_outcome = [&answer](const CommandOutcome& outcome) {
        answer.at = Clock::now();
        answer.outcome = outcome;
        answer.is_there.store(true, std::memory_order_release);
        answer.is_there.notify_one();
      };
      if (ring->post(CommandKind::status, {}, on_outcome) != CommandRing::Post::taken) break;
      ++sent.sent;
      answer.is_there.wait(false, std::memory_order_acquire);
      if (answer.outcome.applied) ++sent.answered;
      if (last) {
        if (answer.outcome.order <= last->order) ++sent.reordered;
        all.push_back({seconds_between(answered, posted), seconds_between(posted, answer.at),
                       static_cast<double>(answer.outcome.at.tick - last->at.tick)});
      }
      last = answer.outcome;
      answered = answer.at;
    }
    sent.seconds = seconds_between(begin, answered);
  };
  sent.result = advance_with(backend, run, ring, send);
  sent.times = hold_times(all);
  return sent;
}

SentCommands send_many(const OpenedBackend& backend, const CommandedRun& run,
                       std::int64_t commands) {
  SentCommands sent;
  // Told by the thread of the run alone, in the order in which it obeys.
  std::uint64_t expected[senders] = {};
  Clock::time_point last;
  const auto ring = std::make_shared<CommandRing>();
  const auto send = [&](const std::stop_token& stop) {
    const Clock::time_point begin = Clock::now();
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t s = 0; s < senders; ++s) {
        threads.emplace_back([&, s] {
          const auto own = static_cast<std::uint64_t>(commands) / senders;
          for (std::uint64_t i = 0; i < own; ++i) {
            Command command;
            command.sequence = i;
            const auto on_outcome = [&, s, i](const CommandOutcome& outcome) {
              if (i != expected[s]) ++sent.reordered;
              expected[s] = i + 1;
              if (outcome.applied) ++sent.answered;
              last = Clock::now();
            };
            if (ring->post_waiting(sealed(command), stop, {}, on_outcome) !=
                CommandRing::Post::taken) {
              return;
            }
          }
        });
      }
    }
    std::atomic<bool> all_told = false;  // the ring keeps the order, so this is the last answer
    const auto tell = [&](const CommandOutcome&) {
      sent.seconds = seconds_between(begin, last);
      all_told = true;
      all_told.notify_one();
    };
    if (ring->post_waiting(sealed({}), stop, {}, tell) == CommandRing::Post::taken) {
      all_told.wait(false);
    }
  };
  sent.sent = commands / static_cast<std::int64_t>(senders) * static_cast<std::int64_t>(senders);
  sent.result = advance_with(backend, run, ring, send);
  return sent;
}

}  // namespace kiln::cli
