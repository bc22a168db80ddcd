// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring alone: order, back-pressure, what cannot be read, and its end.
#include "kiln/commands/command_ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace kiln::test::command_ring_test {
namespace {

Command numbered(std::uint64_t sequence, CommandKind kind = CommandKind::status) {
  Command command;
  command.kind = kind;
  command.sequence = sequence;
  return sealed(command);
}

TEST(Command, IsSealedAndReadable) {
  EXPECT_EQ(unreadable_because(numbered(7)), "");
  EXPECT_EQ(numbered(7), sealed(numbered(7)));
}

TEST(Command, EveryChangedBitIsNoticed) {
  const Command good = numbered(0x0123456789abcdef, CommandKind::inject);
  for (std::size_t bit = 0; bit < 8 * sizeof(Command); ++bit) {
    unsigned char bytes[sizeof(Command)];
    std::memcpy(bytes, &good, sizeof bytes);
    bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1u << (bit % 8)));
    Command bad;
    std::memcpy(&bad, bytes, sizeof bytes);
    EXPECT_NE(unreadable_because(bad), "") << bit;
  }
}

TEST(Command, SaysWhyItCannotBeRead) {
  Command other = numbered(1);
  other.version = 2;
  EXPECT_EQ(unreadable_because(sealed(other)), "it has version 2; this run reads version 1");
  Command damaged = numbered(1);
  ++damaged.sequence;
  EXPECT_EQ(unreadable_because(damaged), "its checksum is wrong");
  Command unknown = numbered(1);
  unknown.kind = static_cast<CommandKind>(99);
  EXPECT_EQ(unreadable_because(sealed(unknown)), "it has the unknown kind 99");
  Command foreign = numbered(1);
  foreign.magic = 0;
  EXPECT_EQ(unreadable_because(sealed(foreign)), "it is no command of Kiln");
}

TEST(CommandRing, GivesCommandsInTheirOrderOnce) {
  CommandRing ring;
  for (std::uint64_t i = 0; i < 5; ++i) {
    CommandData data;
    data.temperatures = {static_cast<double>(i)};
    EXPECT_EQ(ring.post(numbered(i), data), CommandRing::Post::taken);
  }
  EXPECT_EQ(ring.begin_to_take(), 5u);
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto next = ring.take();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->command.sequence, i);
    EXPECT_EQ(next->order, i);
    EXPECT_EQ(next->data.temperatures.front(), static_cast<double>(i));
  }
  EXPECT_FALSE(ring.take());
}

TEST(CommandRing, IsFullAtItsNumberOfSlotsAndTakesMoreOnceOneIsFree) {
  CommandRing ring;
  for (std::uint64_t i = 0; i < CommandRing::slots; ++i) {
    ASSERT_EQ(ring.post(numbered(i)), CommandRing::Post::taken);
  }
  EXPECT_EQ(ring.post(numbered(999)), CommandRing::Post::full);
  ASSERT_TRUE(ring.take());
  EXPECT_EQ(ring.post(numbered(256)), CommandRing::Post::taken);
  for (std::uint64_t i = 1; i <= CommandRing::slots; ++i) {
    EXPECT_EQ(ring.take()->command.sequence, i);
  }
}

TEST(CommandRing, AWaitingSenderGoesOnWhenASlotIsFreeOrItIsStopped) {
  CommandRing ring;
  for (std::uint64_t i = 0; i < CommandRing::slots; ++i) ring.post(numbered(i));
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(ring.post_waiting(numbered(1), stopped.get_token()), CommandRing::Post::full);
  std::jthread sender([&](const std::stop_token& stop) {
    EXPECT_EQ(ring.post_waiting(numbered(256), stop), CommandRing::Post::taken);
  });
  std::uint64_t expected = 0;
  while (expected <= CommandRing::slots) {
    if (const auto next = ring.take()) {
      EXPECT_EQ(next->command.sequence, expected++);
    }
  }
}

TEST(CommandRing, WakesOnceUntilTheRunBeginsToTake) {
  CommandRing ring;
  int woken = 0;
  ring.wake_by([&] { ++woken; });
  EXPECT_EQ(woken, 0);
  ring.post(CommandKind::status);
  ring.post(CommandKind::status);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(ring.begin_to_take(), 2u);
  ring.post(CommandKind::status);
  EXPECT_EQ(woken, 2);
  ring.wake_by({});
  ring.wake_by([&] { ++woken; });
  EXPECT_EQ(woken, 3) << "what stands in the ring wakes a run that begins";
}

TEST(CommandRing, ClosedItRefusesWhatStandsInItAndWhatComes) {
  CommandRing ring;
  std::vector<CommandOutcome> told;
  ring.post(CommandKind::pause, {}, [&](const CommandOutcome& one) { told.push_back(one); });
  ring.close("the run has ended");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_FALSE(told.front().applied);
  EXPECT_EQ(told.front().reason, "the run has ended");
  EXPECT_EQ(ring.post(CommandKind::pause), CommandRing::Post::closed);
  EXPECT_EQ(ring.counts(), (CommandCounts{0, 1}));
}

// Three times what fits, from three threads, against a slow reader.
TEST(CommandRing, LosesAndReordersNothingOfSeveralSenders) {
  constexpr std::uint64_t each = 20000, senders = 3;
  CommandRing ring;
  std::vector<std::jthread> threads;
  for (std::uint64_t s = 0; s < senders; ++s) {
    threads.emplace_back([&ring, s](const std::stop_token& stop) {
      for (std::uint64_t i = 0; i < each; ++i) ring.post_waiting(numbered(s << 32 | i), stop);
    });
  }
  std::uint64_t next[senders] = {}, orders = 0;
  while (orders < each * senders) {
    const auto one = ring.take();
    if (!one) continue;
    ASSERT_EQ(one->unreadable, "");
    ASSERT_EQ(one->order, orders++);
    const std::uint64_t sender = one->command.sequence >> 32;
    ASSERT_EQ(one->command.sequence & 0xffffffff, next[sender]++);
  }
  EXPECT_FALSE(ring.take());
}

}  // namespace
}  // namespace kiln::test::command_ring_test
