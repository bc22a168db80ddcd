// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/telemetry/reader.hpp"
#include "kiln/telemetry/ring.hpp"

#include "backends/backends.hpp"

namespace kiln::telemetry_reader_test {
namespace {

TelemetryHeader header() {
  TelemetryHeader header;
  header.level = TelemetryLevel::groups;
  header.replicas = 64;
  header.groups = 2;
  header.records_per_epoch = 3;
  header.value_slope = -1;
  header.value_offset = 10;
  return header;
}

// Epochs 0, 1 and 4, of run and both groups.
std::string file() {
  std::string bytes = telemetry_head(header());
  for (const std::uint64_t epoch : {0, 1, 4}) {
    for (std::uint32_t place = 0; place < 3; ++place) {
      TelemetryRecord record{};
      record.seq = epoch * 3 + place + 1;
      record.step = 100 * epoch;
      record.subject = place == 0 ? 0 : place - 1;
      record.energy = -static_cast<double>(epoch);
      record.flags = place == 0 ? 0 : 1;
      bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
    }
  }
  return bytes;
}

TEST(TelemetryReader, GivesWhatWasWritten) {
  const TelemetryReader reader(file(), "telemetry.bin");
  ASSERT_EQ(reader.records().size(), 9u);
  EXPECT_EQ(reader.header().replicas, 64u);
  EXPECT_EQ(reader.epoch_of(reader.records()[8]), 4u);
  EXPECT_EQ(reader.records()[8].kind(), TelemetryKind::group);
  EXPECT_EQ(reader.records()[8].subject, 1u);
  EXPECT_EQ(reader.value_of(reader.records()[8].energy), 14);
  EXPECT_EQ(reader.torn_bytes(), 0u);
}

TEST(TelemetryReader, OfAFileThatEndsAnywhereGivesWholeRecordsOrRefuses) {
  const std::string whole = file();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    if (size < 128) {
      EXPECT_THROW(TelemetryReader(part, "x"), IoError) << size;
      continue;
    }
    const TelemetryReader reader(part, "x");
    EXPECT_EQ(reader.records().size(), (size - 128) / 64);
    EXPECT_EQ(reader.torn_bytes(), (size - 128) % 64);
  }
}

TEST(TelemetryReader, SaysAtWhichByteAFileIsWrong) {
  const auto complaint_with = [](std::size_t byte, char value) {
    std::string bytes = file();
    bytes[byte] = value;
    try {
      const TelemetryReader reader(bytes, "t.bin");
    } catch (const IoError& error) {
      return error.code() + ": " + error.message();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(complaint_with(0, 'k'),
            "telemetry.format: t.bin: byte 0: the file does not begin like a telemetry file");
  EXPECT_EQ(complaint_with(8, 2), "telemetry.format: t.bin: byte 8: version 2 is not known");
  EXPECT_EQ(complaint_with(13, 16),
            "telemetry.format: t.bin: byte 12: the header has an impossible size");
  EXPECT_EQ(complaint_with(32, 3),
            "telemetry.format: t.bin: byte 32: the groups do not divide the replicas");
  EXPECT_EQ(complaint_with(128 + 64, 0),
            "telemetry.format: t.bin: byte 192: record 1 does not follow the one before");
  EXPECT_EQ(complaint_with(128 + 64 + 16, 1),
            "telemetry.format: t.bin: byte 192: record 1 is not about what its number says");
}

TEST(TelemetryReader, NeverTrustsAFile) {
  test::TestRandom random(5);
  int refused = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string bytes = file();
    for (std::int64_t n = random.between(1, 8); n > 0; --n) {
      const auto last = static_cast<std::int64_t>(bytes.size()) - 1;
      bytes[static_cast<std::size_t>(random.between(0, last))] = static_cast<char>(random.word());
    }
    bytes.resize(bytes.size() - static_cast<std::size_t>(random.between(0, 200)));
    try {
      const TelemetryReader reader(bytes, "x");
      EXPECT_LE(reader.records().size(), 9u);
    } catch (const IoError& error) {
      EXPECT_EQ(error.code(), "telemetry.format");
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(TelemetryRing, KeepsAllOfTheFirstEpochsAndNeverTwiceAsMany) {
  TelemetryRing ring;
  ring.records_per_epoch = 3;
  ring.all_of_first = 256;
  std::uint64_t kept = 0;
  for (std::uint64_t epoch = 0; epoch < 3000000; ++epoch) {
    if (!ring.keeps(epoch)) {
      ASSERT_GE(epoch, 256u);
      continue;
    }
    ASSERT_EQ(ring.kept_before(epoch), kept) << epoch;
    ++kept;
  }
  EXPECT_EQ(kept, 256u + 13 * 4 + 2);  // 13 doublings, and a part of the next
  EXPECT_LE(ring.kept_before(~0ull), 2u * 256);
}

// Four times as many epochs pass, and the same are kept of every fourth.
TEST(TelemetryRing, KeepsOneInSoManyWhereRecordsAreDear) {
  TelemetryRing all, some;
  all.records_per_epoch = some.records_per_epoch = 3;
  some.every = 4;
  std::uint64_t kept = 0;
  for (std::uint64_t epoch = 0; epoch < 400000; ++epoch) {
    ASSERT_EQ(some.keeps(epoch), epoch % 4 == 0 && all.keeps(epoch / 4)) << epoch;
    if (!some.keeps(epoch)) continue;
    ASSERT_EQ(some.kept_before(epoch), kept) << epoch;
    ++kept;
  }
  EXPECT_EQ(kept, 64u + 10 + 1) << "ten doublings of 64, and a part of the next";
}

TEST(TelemetryRing, HasNothingInAPlaceThatIsBeingWritten) {
  using enum TelemetryRing::Found;
  TelemetrySlot slot{}, other{};
  TelemetryRecord value{}, found;
  value.seq = 5;
  value.energy = 7;
  EXPECT_EQ(TelemetryRing::read(slot, 5, found), nothing_yet);
  TelemetryRing::write(slot, other, value);
  EXPECT_EQ(TelemetryRing::read(slot, 5, found), record);
  EXPECT_EQ(found.energy, 7);
  EXPECT_EQ(TelemetryRing::read(slot, 6, found), nothing_yet);
  EXPECT_EQ(TelemetryRing::read(slot, 4, found), another);

  value.seq = 6;
  TelemetryRing::write(other, slot, value);  // the next payload comes into `slot`
  EXPECT_EQ(TelemetryRing::read(slot, 5, found), nothing_yet) << "a part of it may be new";
  EXPECT_EQ(TelemetryRing::read(other, 6, found), record);
}

// A writer that never waits against a reader, and two places, so that they meet all the time:
// whatever the reader takes is whole.
TEST(TelemetryRing, GivesNoTornRecords) {
  constexpr std::uint64_t tries = 3000000;
  std::vector<TelemetrySlot> slots(2);
  TelemetryRing ring;
  ring.slots = slots.data();
  ring.capacity = 2;
  ring.records_per_epoch = 1;
  ring.all_of_first = std::uint64_t{1} << 40;
  std::atomic<std::uint64_t> written{0};
  std::atomic<bool> enough{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; !enough.load(std::memory_order_relaxed); ++i) {
      TelemetryRecord record{};
      record.step = i;
      record.energy = record.best = record.beta = static_cast<double>(i);
      record.subject = record.flags = record.not_finite = static_cast<std::uint32_t>(i);
      ring.publish(i, 0, record);
      written.store(i + 1, std::memory_order_release);
      for (int pause = 0; pause < 100; ++pause) written.load();  // so that some are found whole
    }
  });
  while (written.load() == 0) std::this_thread::yield();
  std::uint64_t taken = 0, torn = 0;
  for (std::uint64_t n = 0; n < tries; ++n) {
    const std::uint64_t last = written.load(std::memory_order_acquire) - 1;
    TelemetryRecord record;
    const auto found = TelemetryRing::read(ring.slot_of(last, 0), ring.seq_of(last, 0), record);
    if (found != TelemetryRing::Found::record) continue;
    ++taken;
    const auto i = static_cast<double>(last);
    const auto low = static_cast<std::uint32_t>(last);
    if (record.step != last || record.energy != i || record.best != i || record.beta != i ||
        record.subject != low || record.flags != low || record.not_finite != low) {
      ++torn;
    }
  }
  enough = true;
  writer.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_GT(taken, 0u);
}

}  // namespace
}  // namespace kiln::telemetry_reader_test
