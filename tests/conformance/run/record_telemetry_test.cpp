// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/record_telemetry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "backends/device_best_log.hpp"
#include "backends/epoch_values.hpp"

KILN_CONFORMANCE_CASE(RecordTelemetry, exact)

namespace kiln::test::record_telemetry_test {
namespace {

constexpr std::int64_t variables = 10;

void expect_equal(const TelemetryEpoch& found, const TelemetryEpoch& wanted) {
  EXPECT_EQ(found.count, wanted.count);
  EXPECT_NEAR(found.mean, wanted.mean, 1e-12 * std::max(1.0, std::abs(wanted.mean)));
  EXPECT_NEAR(found.m2, wanted.m2, 1e-9 * wanted.m2);
  EXPECT_EQ(found.least, wanted.least);
  EXPECT_EQ(found.most, wanted.most);
  EXPECT_EQ(found.accepted, wanted.accepted);
  EXPECT_EQ(found.not_finite, wanted.not_finite);
  EXPECT_EQ(found.best, wanted.best);
  EXPECT_EQ(found.replica, wanted.replica);
  EXPECT_EQ(found.slot, wanted.slot);
}

std::vector<std::uint64_t> bits_of_sums(const std::vector<TelemetrySums>& sums) {
  std::vector<std::uint64_t> bits;
  for (const TelemetrySums& one : sums) {
    const std::vector<std::uint64_t> reals =
        bits_of({one.mean, one.m2, one.least, one.most, one.last.mean, one.last.m2, one.last.best});
    bits.insert(bits.end(), reals.begin(), reals.end());
    bits.insert(bits.end(), {one.epochs, one.count, one.accepted, one.last.accepted});
  }
  return bits;
}

// A batch on a device with its telemetry.
class Recorder {
 public:
  Recorder(Queue& queue, const EpochValues& values, TelemetryLevel level = TelemetryLevel::off,
           std::uint64_t ring_places = 1024)
      : queue_(queue),
        energy_(queue, values.energy),
        best_(queue, values.best),
        step_(queue, values.step),
        accepted_(queue, values.accepted),
        not_finite_(queue, values.not_finite),
        rung_(queue, values.rung),
        replica_(queue, values.replica),
        beta_(queue, std::vector<double>{0, 1, 2, 3, 4, 5, 6}),
        control_(upload_control(queue, {})),
        log_(queue, static_cast<std::int64_t>(values.best.size())),
        state_(queue, std::vector<TelemetryState>(1)),
        sums_(queue, values.groups),
        parts_(queue, values.groups * RecordTelemetry::nodes_of(values.size)),
        mailbox_(queue, 1),
        slots_(queue, static_cast<std::int64_t>(ring_places)) {
    sums_.zero();
    kernel_.group_size = values.size;
    kernel_.variables = variables;
    kernel_.sweeps_per_tick = 3;
    kernel_.ring = {slots_.data(), ring_places, 0, std::uint64_t{1} << 20, level};
    if (level >= TelemetryLevel::summary) kernel_.ring.records_per_epoch += 1;
    if (level >= TelemetryLevel::groups) {
      kernel_.ring.records_per_epoch += static_cast<std::uint64_t>(values.groups);
    }
    if (level >= TelemetryLevel::replicas) {
      kernel_.ring.records_per_epoch += static_cast<std::uint64_t>(values.replicas());
    }
  }

  RecordTelemetry& kernel() { return kernel_; }
  void write(const EpochValues& values) {
    energy_.upload(values.energy);
    best_.upload(values.best);
    step_.upload(values.step);
    accepted_.upload(values.accepted);
    not_finite_.upload(values.not_finite);
  }
  void record(std::uint64_t tick, RunControl control = {}) {
    control.tick = tick;
    control.step = 3 * tick;
    control_.upload({control});
    kernel_.control = control_.data();
    kernel_.energy = energy_.view();
    kernel_.best_energy = best_.view();
    kernel_.best_step = step_.view();
    kernel_.accepted = accepted_.view();
    kernel_.not_finite = not_finite_.view();
    kernel_.rung_of = rung_.view();
    kernel_.replica_of = replica_.view();
    kernel_.beta = beta_.view();
    kernel_.log = log_.view().entries;
    kernel_.state = state_.data();
    kernel_.sums = sums_.view();
    kernel_.parts = parts_.view();
    kernel_.mailbox = mailbox_.data();
    queue_.launch(kernel_);
    queue_.wait();
  }
  std::vector<TelemetrySums> sums() const { return sums_.download(); }
  void note(const std::vector<BestLogEntry>& notes) {
    std::vector<BestLogEntry> log = notes;
    log.resize(idx(BestLog::capacity));
    log_.entries.upload(log);
  }
  TelemetryState state() const { return state_.download().front(); }
  const TelemetryMailbox& mailbox() const { return *mailbox_.data(); }
  bool read(std::uint64_t epoch, std::int64_t i, TelemetryRecord& record) {
    const auto place = static_cast<std::uint64_t>(i);
    return TelemetryRing::read(kernel_.ring.slot_of(epoch, place),
                               kernel_.ring.seq_of(epoch, place),
                               record) == TelemetryRing::Found::record;
  }

 private:
  Queue& queue_;
  DeviceArray<double> energy_, best_;
  DeviceArray<std::uint64_t> step_, accepted_, not_finite_;
  DeviceArray<std::int32_t> rung_, replica_;
  DeviceArray<double> beta_;
  DeviceArray<RunControl> control_;
  DeviceBestLog log_;
  DeviceArray<TelemetryState> state_;
  DeviceArray<TelemetrySums> sums_;
  DeviceArray<TelemetryPart> parts_;
  SharedArray<TelemetryMailbox> mailbox_;
  SharedArray<TelemetrySlot> slots_;
  RecordTelemetry kernel_;
};

class RecordTelemetryKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(RecordTelemetryKernel);

TEST_P(RecordTelemetryKernel, FindsWhatALoopOverTheSlotsFinds) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{
      {1, 1},   {1, 31},   {1, 32},   {3, 33},    {5, 255},   {2, 256},  {3, 257},
      {70, 32}, {2, 1000}, {1100, 4}, {1, 16384}, {2, 16385}, {1, 70001}};
  for (const auto& [groups, size] : shapes) {
    SCOPED_TRACE(testing::Message() << groups << " groups of " << size);
    const EpochValues values = random_values(groups, size, idx(groups * 1000 + size), true);
    Recorder recorder(queue(), values);

    recorder.record(0);

    const std::vector<TelemetrySums> sums = recorder.sums();
    for (std::int64_t g = 0; g < groups; ++g) {
      const TelemetryEpoch wanted = enumerate(values, g * size, (g + 1) * size);
      ASSERT_NO_FATAL_FAILURE(expect_equal(sums[idx(g)].last, wanted)) << g;
      EXPECT_EQ(sums[idx(g)].accepted, wanted.accepted);
    }
    const TelemetryEpoch all = enumerate(values, 0, values.replicas());
    ASSERT_EQ(recorder.mailbox().incumbents, std::isfinite(all.best) ? 1u : 0u);
    if (!std::isfinite(all.best)) continue;
    EXPECT_EQ(recorder.mailbox().log[0].energy, all.best);
    EXPECT_EQ(recorder.mailbox().log[0].replica, all.replica);
    EXPECT_EQ(recorder.mailbox().log[0].group, all.slot / size);
    EXPECT_EQ(recorder.mailbox().log[0].rung, values.rung[idx(all.slot)]);
  }
}

TEST_P(RecordTelemetryKernel, HasTheBitsOfTheOtherBackend) {
  for (const std::int64_t size : {1, 100, 256, 1000, 20000}) {
    const std::int64_t groups = size > 1000 ? 2 : 300;
    Recorder here(queue(), random_values(groups, size, 1, false), TelemetryLevel::groups);
    Recorder there(cpu_queue(), random_values(groups, size, 1, false), TelemetryLevel::groups);
    for (std::uint64_t tick = 0; tick < 4; ++tick) {
      const EpochValues values = random_values(groups, size, 7 + tick, false);
      here.write(values);
      there.write(values);
      here.record(tick);
      there.record(tick);
      EXPECT_EQ(bits_of_sums(here.sums()), bits_of_sums(there.sums())) << size << ' ' << tick;
      TelemetryRecord mine, other;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(groups, 300) + 1; ++i) {
        ASSERT_TRUE(here.read(tick, i, mine) && there.read(tick, i, other));
        EXPECT_EQ(std::memcmp(&mine, &other, sizeof mine), 0) << i;
      }
    }
  }
}

TEST_P(RecordTelemetryKernel, AddsEpochsAndCountsSinceTheLast) {
  EpochValues values = random_values(2, 100, 3, true);
  Recorder recorder(queue(), values);
  recorder.record(0);
  const TelemetryEpoch first = enumerate(values, 100, 200);
  EpochValues later = random_values(2, 100, 4, true);
  for (std::size_t s = 0; s < 200; ++s) later.accepted[s] = values.accepted[s] + s;
  recorder.write(later);
  recorder.record(1);

  const TelemetrySums sums = recorder.sums()[1];

  const TelemetryEpoch second = enumerate(later, 100, 200);
  EXPECT_EQ(sums.epochs, 2u);
  EXPECT_EQ(sums.last.accepted, 14950u);  // 100 + ... + 199
  EXPECT_EQ(sums.accepted, second.accepted);
  EXPECT_EQ(sums.count, first.count + second.count);
  const double n = static_cast<double>(first.count), m = static_cast<double>(second.count);
  EXPECT_NEAR(sums.mean, (n * first.mean + m * second.mean) / (n + m), 1e-9);
  const double between = (first.mean - second.mean) * (first.mean - second.mean) * n * m / (n + m);
  EXPECT_NEAR(sums.m2, first.m2 + second.m2 + between, 1e-9 * sums.m2);
  EXPECT_EQ(sums.least, std::min(first.least, second.least));
}

TEST_P(RecordTelemetryKernel, OfEqualEnergiesTheFirstReplicaCounts) {
  EpochValues values = random_values(2, 40, 5, true);
  std::fill_n(values.best.begin(), 80, -100.0);
  values.best[13] = values.best[55] = values.best[9] = -200;
  values.replica[13] = 30, values.replica[9] = 31, values.replica[55] = 41;
  Recorder recorder(queue(), values);

  recorder.record(0);

  EXPECT_EQ(recorder.mailbox().log[0].replica, 30);
  EXPECT_EQ(recorder.mailbox().log[0].group, 0);
  EXPECT_EQ(recorder.sums()[1].last.replica, 41);
}

TEST_P(RecordTelemetryKernel, NotesOnlyImprovementsWithTheTickThatFoundThem) {
  EpochValues values = random_values(1, 64, 6, true);
  std::fill_n(values.best.begin(), 64, -5.0);
  Recorder recorder(queue(), values);
  recorder.record(0);
  recorder.record(1);  // no better
  values.best[40] = -6;
  values.step[40] = 6;  // when its tick began; a tick has three sweeps
  recorder.write(values);
  recorder.record(4);
  values.best[3] = -6;  // as good, and no improvement
  recorder.write(values);
  recorder.record(5);

  ASSERT_EQ(recorder.mailbox().incumbents, 2u);
  EXPECT_EQ(recorder.mailbox().log[0].step, 0u);  // the initial states
  EXPECT_EQ(recorder.mailbox().log[1].step, 9u);
  EXPECT_EQ(recorder.mailbox().log[1].replica, values.replica[40]);
  EXPECT_EQ(recorder.mailbox().epochs, 4u);
}

// Of four notes the first is no better than the initial states and the last waits for its finder,
// which is no other than the best of the epoch.
TEST_P(RecordTelemetryKernel, HandsOverWhatTicksHaveNoted) {
  EpochValues values = random_values(4, 8, 16, true);
  std::fill_n(values.best.begin(), 32, -5.0);
  Recorder recorder(queue(), values);
  recorder.kernel().ticks_per_epoch = 8;
  recorder.record(0);
  recorder.note({{exact::order_key(-5), 3, 1, 1},
                 {exact::order_key(-6), 9, 19, 4},
                 {exact::order_key(-7), 12, -1, 0},
                 {exact::order_key(-9), 24, -1, 0}});
  values.best[21] = -9;
  values.step[21] = 21;
  recorder.write(values);
  RunControl control;
  control.noted = 4;
  control.wanted = -9;
  recorder.kernel().task = RecordTelemetry::Task::log;  // at any time
  recorder.record(7, control);
  ASSERT_EQ(recorder.mailbox().incumbents, 3u);
  recorder.kernel().task = RecordTelemetry::Task::epoch;
  recorder.record(8, control);
  control.wanted = exact::not_a_number();  // its finder is known
  recorder.record(16, control);

  const TelemetryMailbox& mailbox = recorder.mailbox();
  ASSERT_EQ(mailbox.incumbents, 4u);
  std::vector<std::vector<double>> found;
  for (int i = 1; i < 4; ++i) {
    const IncumbentEntry& one = mailbox.log[i];
    found.push_back({one.energy, static_cast<double>(one.step), static_cast<double>(one.replica),
                     static_cast<double>(one.group), static_cast<double>(one.rung)});
  }
  EXPECT_EQ(found[0], (std::vector<double>{-6, 9, 19, 2, 4}));
  EXPECT_EQ(found[1], (std::vector<double>{-7, 12, -1, 0, 0}));
  EXPECT_EQ(found[2], (std::vector<double>{-9, 24, static_cast<double>(values.replica[21]), 2,
                                           static_cast<double>(values.rung[21])}));
  EXPECT_EQ(recorder.state().emptied, 4u);
  EXPECT_EQ(recorder.state().epochs, 3u);
}

TEST_P(RecordTelemetryKernel, RecordsAnEpochOnceAndOnlyAtItsEnd) {
  Recorder recorder(queue(), random_values(1, 300, 8, true));
  recorder.kernel().ticks_per_epoch = 8;
  for (const std::uint64_t tick : {0, 0, 3, 8, 8, 15, 16}) recorder.record(tick);

  EXPECT_EQ(recorder.state().epochs, 3u);
  EXPECT_EQ(recorder.state().last_tick, 16u);
  EXPECT_EQ(recorder.sums()[0].epochs, 3u);
}

TEST_P(RecordTelemetryKernel, WritesRecordsOfRunGroupsAndReplicas) {
  EpochValues values = random_values(3, 90, 9, true);
  Recorder recorder(queue(), values, TelemetryLevel::replicas);
  recorder.record(0);
  for (std::uint64_t& count : values.accepted) count += 30;
  recorder.write(values);
  recorder.record(2);

  TelemetryRecord record;
  ASSERT_TRUE(recorder.read(1, 0, record));
  const TelemetryEpoch all = enumerate(values, 0, 270);
  EXPECT_EQ(record.kind(), TelemetryKind::run);
  EXPECT_EQ(record.step, 6u);
  EXPECT_NEAR(record.energy, all.mean, 1e-9);
  EXPECT_EQ(record.best, all.best);
  EXPECT_NEAR(record.deviation, std::sqrt(all.m2 / static_cast<double>(all.count)), 1e-3);
  EXPECT_FLOAT_EQ(record.acceptance, 30.0f / 60);  // 6 sweeps of 10 variables
  EXPECT_EQ(record.beta, values.rung[idx(all.slot)]);
  EXPECT_FALSE(record.improved());
  for (std::int64_t g = 0; g < 3; ++g) {
    ASSERT_TRUE(recorder.read(1, 1 + g, record));
    EXPECT_EQ(record.kind(), TelemetryKind::group);
    EXPECT_EQ(record.subject, static_cast<std::uint32_t>(g));
    EXPECT_NEAR(record.energy, enumerate(values, g * 90, (g + 1) * 90).mean, 1e-9);
  }
  for (std::int64_t slot = 0; slot < 270; ++slot) {
    ASSERT_TRUE(recorder.read(1, 4 + values.replica[idx(slot)], record));
    EXPECT_EQ(record.kind(), TelemetryKind::replica);
    EXPECT_EQ(record.subject, static_cast<std::uint32_t>(values.replica[idx(slot)]));
    EXPECT_EQ(bits_of({record.best}), bits_of({values.best[idx(slot)]}));
    if (std::isfinite(values.energy[idx(slot)])) {
      EXPECT_EQ(record.energy, values.energy[idx(slot)]);
    }
  }
}

// Four epochs fit, and the place of the next record is marked.
TEST_P(RecordTelemetryKernel, AReaderNoticesWhatWasOverwritten) {
  Recorder recorder(queue(), random_values(3, 8, 10, true), TelemetryLevel::groups, 16);
  for (std::uint64_t tick = 0; tick < 6; ++tick) recorder.record(tick);
  TelemetryRecord record;
  for (std::uint64_t epoch = 0; epoch < 6; ++epoch) {
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(recorder.read(epoch, i, record), epoch >= 3) << epoch << ' ' << i;
      if (epoch >= 3) {
        EXPECT_EQ(record.step, 3 * epoch);
      }
    }
  }
}

TEST_P(RecordTelemetryKernel, ALookTellsTheBestAndChangesNothing) {
  for (const auto& [groups, size] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 5}, {70, 32}, {3, 300}, {1, 70001}}) {
    const EpochValues values = random_values(groups, size, 11, true);
    Recorder recorder(queue(), values);
    recorder.kernel().ticks_per_epoch = 4;
    recorder.kernel().task = RecordTelemetry::Task::look;
    recorder.record(6);

    const TelemetryEpoch all = enumerate(values, 0, values.replicas());
    const IncumbentEntry& now = recorder.mailbox().now;
    EXPECT_EQ(now.energy, all.best);
    EXPECT_EQ(now.replica, all.replica);
    EXPECT_EQ(now.rung, values.rung[idx(all.slot)]);
    EXPECT_EQ(now.step, std::min<std::uint64_t>(values.step[idx(all.slot)] + 3, 18));
    EXPECT_EQ(recorder.state().epochs, 0u);
    EXPECT_EQ(recorder.mailbox().incumbents, 0u);
    EXPECT_EQ(recorder.sums()[0].epochs, 0u);
  }
  EpochValues none(1, 40);
  std::ranges::fill(none.best, no_energy);
  Recorder recorder(queue(), none);
  recorder.kernel().task = RecordTelemetry::Task::look;
  recorder.record(0);
  EXPECT_EQ(recorder.mailbox().now.replica, -1);
}

}  // namespace
}  // namespace kiln::test::record_telemetry_test
