// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Series of rungs and replicas from records of telemetry, and replicas that are clones.
#include "analysis/run/run_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "errors.hpp"
#include "planted_telemetry.hpp"

namespace kiln::cli::run_series_test {
namespace {

using test::PlantedReplica;
using test::PlantedTelemetry;

constexpr std::int64_t any = 1 << 20;

// Two ladders of two rungs; the replicas of the second change places in every epoch. An energy says
// where and when it is from: 100 * group + 10 * rung + epoch / 1000.
PlantedTelemetry two_ladders(std::uint64_t epochs) {
  PlantedTelemetry file(2, 2);
  for (std::uint64_t t = 0; t < epochs; ++t) {
    const int swap = static_cast<int>(t % 2);
    const double at = static_cast<double>(t) / 1000;
    file.add(t, 8 * t,
             {{0 + at, 0},
              {10 + at, 1},
              {100 + 10 * swap + at, 2 + swap},
              {100 + 10 * (1 - swap) + at, 3 - swap}});
  }
  return file;
}

TEST(RunSeries, RungsFollowTheReplicasThatAreThere) {
  const ReplicaSeries series = replica_series(two_ladders(50).reader(), 0, any);
  ASSERT_EQ(series.epochs, 50);
  EXPECT_EQ(series.groups, 2);
  EXPECT_EQ(series.size, 2);
  EXPECT_EQ(series.sweeps_apart, 8);
  EXPECT_EQ(series.last_sweep, 392);
  for (std::int64_t group = 0; group < 2; ++group) {
    for (std::int64_t rung = 0; rung < 2; ++rung) {
      const std::vector<double> energies = series.on_rung(group, rung);
      ASSERT_EQ(energies.size(), 50u);
      for (std::size_t t = 0; t < 50; ++t) {
        EXPECT_DOUBLE_EQ(energies[t], static_cast<double>(100 * group + 10 * rung) +
                                          static_cast<double>(t) / 1000)
            << group << " " << rung << " " << t;
      }
    }
  }
}

TEST(RunSeries, BeginAndLengthChooseTheLastEpochs) {
  const ReplicaSeries series = replica_series(two_ladders(50).reader(), 81, 7);
  EXPECT_EQ(series.epochs, 7);
  EXPECT_EQ(series.first_sweep, 8 * 43);
  EXPECT_EQ(replica_series(two_ladders(50).reader(), 81, any).first_sweep, 88);
  EXPECT_EQ(replica_series(two_ladders(50).reader(), 1000, any).epochs, 0);
}

TEST(RunSeries, EpochsThatAreFurtherApartAreAnotherStretch) {
  PlantedTelemetry file(1, 2);
  for (std::uint64_t t = 0; t < 10; ++t) file.add(t, t, {{1, 0}, {2, 1}});
  for (std::uint64_t t = 64; t < 64 * 30; t += 64) file.add(t, t, {{3, 0}, {4, 1}});
  const ReplicaSeries series = replica_series(file.reader(), 0, any);
  EXPECT_EQ(series.sweeps_apart, 64);
  EXPECT_EQ(series.epochs, 29);
  EXPECT_EQ(series.on_rung(0, 0).front(), 3);
}

TEST(RunSeries, TheDensestStretchHasItsOwnBurnIn) {
  PlantedTelemetry file(1, 2);
  for (std::uint64_t t = 0; t < 120; ++t) file.add(t, t, {{1, 0}, {2, 1}});
  for (std::uint64_t t = 128; t < 64 * 300; t += 64) file.add(t, t, {{3, 0}, {4, 1}});
  const ReplicaSeries dense = densest_series(file.reader(), 0, 64, any);
  EXPECT_EQ(dense.sweeps_apart, 1);
  EXPECT_EQ(dense.first_sweep, 39) << "a third of 119";
  EXPECT_EQ(dense.epochs, 81);
  EXPECT_EQ(dense.min_apart, 1);
  const ReplicaSeries last = densest_series(file.reader(), 0, 64, 70);
  EXPECT_EQ(last.first_sweep, 50);
  const ReplicaSeries sparse = densest_series(file.reader(), 57, 64, any);
  EXPECT_EQ(sparse.sweeps_apart, 64) << "63 dense epochs are too few";
  EXPECT_EQ(sparse.min_apart, 1);
}

TEST(RunSeries, AnEpochWithAMissingRecordEndsAStretch) {
  PlantedTelemetry file(1, 3);
  for (std::uint64_t t = 0; t < 30; ++t) file.add(t, t, {{1, 0}, {2, 1}, {3, 2}}, t == 12 ? 1 : -1);
  const ReplicaSeries series = replica_series(file.reader(), 0, any);
  EXPECT_EQ(series.first_sweep, 13);
  EXPECT_EQ(series.epochs, 17);
}

TEST(RunSeries, AFileThatARunStillWritesGivesTheWholeEpochs) {
  const std::string bytes = two_ladders(20).bytes();
  for (const std::size_t cut : {1u, 64u, 100u, 200u, 400u}) {
    const TelemetryReader reader(std::string_view(bytes).substr(0, bytes.size() - cut), "t");
    const std::int64_t epochs = replica_series(reader, 0, any).epochs;
    EXPECT_EQ(epochs, cut <= 448 ? 19 : 18) << cut;
  }
}

TEST(RunSeries, RungsThatAGroupDoesNotHaveAreRefused) {
  for (const int rung : {-1, 2, 7}) {
    PlantedTelemetry file(2, 2);
    file.add(0, 0, {{1, 0}, {1, rung}, {1, 2}, {1, 3}});
    EXPECT_THROW(replica_series(file.reader(), 0, any), InputError) << rung;
  }
}

TEST(RunSeries, EnergiesThatAreNotFiniteAreMissing) {
  PlantedTelemetry file(1, 2);
  const double infinite = std::numeric_limits<double>::infinity();
  for (std::uint64_t t = 0; t < 3; ++t) file.add(t, t, {{infinite, 0}, {2, 1}});
  const ReplicaSeries series = replica_series(file.reader(), 0, any);
  EXPECT_TRUE(std::isnan(series.on_rung(0, 0)[1]));
  EXPECT_EQ(series.on_rung(0, 1)[1], 2);
}

// Replicas 1 and 4 are one from epoch 40 on; 0 and 2 rest at the same energy; 3 and 5 agree in half
// of the epochs.
ReplicaSeries with_clones(std::size_t epochs) {
  ReplicaSeries series;
  series.groups = 1;
  series.size = 6;
  series.epochs = static_cast<std::int64_t>(epochs);
  series.sweeps_apart = 4;
  std::mt19937_64 words(7);
  series.energy.assign(6, {});
  for (std::size_t t = 0; t < epochs; ++t) {
    for (std::size_t r = 0; r < 6; ++r) {
      const auto any_energy = static_cast<double>(words() % 1000);
      series.energy[r].push_back(r == 0 || r == 2 ? -20 : any_energy);
    }
    if (t >= 40) series.energy[4][t] = series.energy[1][t];
    if (t % 2 == 0) series.energy[5][t] = series.energy[3][t];
  }
  return series;
}

TEST(RunClones, PlantedClonesAreFoundFromTheirFirstEpochOn) {
  const std::vector<Clones> clones = clones_of(with_clones(100));
  ASSERT_EQ(clones.size(), 1u) << "replicas at rest and chance agreements are none";
  EXPECT_EQ(clones[0].replicas, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(clones[0].since_sweep, 160);
  EXPECT_EQ(clones[0].epochs, 60);
  EXPECT_GE(clones[0].changes, 55);
}

TEST(RunClones, ClonesThatPartAgainAreNone) {
  ReplicaSeries series = with_clones(100);
  series.energy[4][99] += 1;
  EXPECT_TRUE(clones_of(series).empty());
  EXPECT_TRUE(clones_of(with_clones(50)).empty()) << "10 epochs are too few";
}

}  // namespace
}  // namespace kiln::cli::run_series_test
