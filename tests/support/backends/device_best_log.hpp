// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kiln/device/run_control.hpp"

#include "backends/backends.hpp"

namespace kiln::test {

/// A log of improvements on a device, with slots whose replicas and rungs are numbered backwards.
struct DeviceBestLog {
  DeviceArray<BestLogEntry> entries;
  DeviceArray<std::int32_t> replica_of, rung_of;

  DeviceBestLog(Queue& queue, std::int64_t slots)
      : entries(queue, std::vector<BestLogEntry>(idx(BestLog::capacity))),
        replica_of(queue, backwards(slots)),
        rung_of(queue, backwards(slots)) {}

  BestLog view() { return {entries.view()}; }

  /// In tuples of key, step, replica, rung.
  std::vector<std::vector<std::uint64_t>> numbers(const RunControl& control) const {
    std::vector<std::vector<std::uint64_t>> all;
    const std::vector<BestLogEntry> log = entries.download();
    for (std::uint64_t i = 0; i < control.noted; ++i) {
      const BestLogEntry& one = log[idx(BestLog::place_of(i))];
      all.push_back({one.key, one.step, static_cast<std::uint64_t>(one.replica),
                     static_cast<std::uint64_t>(one.rung)});
    }
    return all;
  }

 private:
  static std::vector<std::int32_t> backwards(std::int64_t slots) {
    std::vector<std::int32_t> numbers;
    for (std::int64_t s = slots - 1; s >= 0; --s) numbers.push_back(static_cast<std::int32_t>(s));
    return numbers;
  }
};

/// What AdvanceTick and TrackBest leave of improvements.
inline void expect_same_notes(const RunControl& got, const RunControl& expected) {
  EXPECT_EQ(got.best_key, expected.best_key);
  EXPECT_EQ(got.noted_key, expected.noted_key);
  EXPECT_EQ(got.noted, expected.noted);
  EXPECT_EQ(got.next_note, expected.next_note);
  EXPECT_EQ(bits_of({got.wanted}), bits_of({expected.wanted}));
  EXPECT_EQ(got.finder, expected.finder);
}

}  // namespace kiln::test
