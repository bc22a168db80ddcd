// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench telemetry: what epochs, incumbents and records cost a run, and whether the ring gives
// any record that is torn.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "kiln/errors.hpp"
#include "kiln/kernels/run/advance_tick.hpp"
#include "kiln/kernels/run/record_telemetry.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"
#include "errors.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t pairs = 11, quick_pairs = 2;

struct TelemetryCase {
  std::string name, schedule, instance;
  std::map<std::string, std::string> parameters;
  std::int64_t replicas;
  TelemetryLevel level;
};

const std::vector<TelemetryCase>& all_cases() {
  static const std::vector<TelemetryCase> cases{
      {"G22 summary", "simulated-annealing", "gset:G22", {}, 0, TelemetryLevel::summary},
      {"G22 replicas", "simulated-annealing", "gset:G22", {}, 0, TelemetryLevel::replicas},
      {"G81 summary", "simulated-annealing", "gset:G81", {}, 0, TelemetryLevel::summary},
      {"1000 ladders groups",
       "parallel-tempering",
       "torus:8x8,1",
       {{"rungs", "32"}},
       32000,
       TelemetryLevel::groups},
      {"nuts summary",
       "hmc",
       "posterior:eight-schools",
       {{"sampler", "nuts"}},
       0,
       TelemetryLevel::summary},
      {"ring", "", "", {}, 0, TelemetryLevel::replicas}};
  return cases;
}

struct Pairs {
  std::int64_t replicas = 0, sweeps = 0;
  std::uint64_t ticks_per_epoch = 0, epochs = 0, records = 0, lost = 0;
  std::vector<double> off_s, on_s, ratio;
};

// Runs with and without epochs take turns, so that a change of the clock concerns both.
class PairsOfRuns {
 public:
  PairsOfRuns(const BenchRun& bench, const TelemetryCase& which)
      : bench_(bench),
        which_(which),
        problem_(make_instance(which.instance)),
        options_(run_options(bench, which.replicas)) {}

  Pairs measure(double limit_s) {
    const std::int64_t count = bench_.options.quick ? quick_pairs : pairs;
    Pairs all;
    const double first_s = run(64, true, nullptr);
    const double share_s = limit_s / (2.0 * static_cast<double>(count) + 1);
    all.sweeps = bench_.options.sweeps.value_or(
        std::max<std::int64_t>(64, static_cast<std::int64_t>(64 * share_s / first_s)));
    repeat({2, count, 1.5 * limit_s}, [&](std::int64_t number) {
      const bool off_first = number % 2 == 0;
      double off_s = off_first ? run(all.sweeps, false, nullptr) : 0;
      const double on_s = run(all.sweeps, true, &all);
      if (!off_first) off_s = run(all.sweeps, false, nullptr);
      all.off_s.push_back(off_s);
      all.on_s.push_back(on_s);
      all.ratio.push_back(on_s / off_s);
    });
    return all;
  }

 private:
  double run(std::int64_t sweeps, bool epochs, Pairs* facts) {
    const std::unique_ptr<Schedule> schedule =
        registry_.schedule(which_.schedule).make(which_.parameters);
    RunOptions options = options_;
    options.telemetry = {epochs ? which_.level : TelemetryLevel::off, std::uint64_t{1} << 32,
                         [](std::span<const TelemetryRecord>) {}, epochs};
    Run one(problem_, *schedule, {.sweeps = sweeps}, options, bench_.backend);
    const Result result = one.advance();
    require_verified(result);
    if (facts != nullptr) {
      const TelemetryCounts counts = one.telemetry_counts();
      facts->replicas = result.work.replicas;
      facts->ticks_per_epoch = one.telemetry_header().ticks_per_epoch;
      facts->epochs = counts.epochs;
      facts->records = counts.records;
      facts->lost = counts.lost;
    }
    return result.time.run_s;
  }

  const BenchRun& bench_;
  const TelemetryCase& which_;
  Problem problem_;
  Registry registry_ = builtin_registry();
  RunOptions options_;
};

/// A batch whose every number says at which step it was written.
class RingCase {
 public:
  RingCase(Queue& queue, std::int64_t replicas)
      : queue_(queue),
        replicas_(replicas),
        energy_(queue, replicas),
        counts_(queue, replicas),
        places_(queue, std::vector<std::int32_t>(places_of(replicas))),
        rungs_(queue, replicas),
        control_(queue, std::vector<RunControl>{{}}),
        state_(queue, 1),
        sums_(queue, 1),
        parts_(queue, RecordTelemetry::nodes_of(replicas)),
        mailbox_(queue, 1),
        slots_(queue, replicas * 4) {
    energy_.zero();
    counts_.zero();
    rungs_.zero();
    state_.zero();
    sums_.zero();
    kernel_.control = control_.data();
    kernel_.energy = kernel_.best_energy = energy_.view();
    kernel_.best_step = kernel_.accepted = kernel_.not_finite = counts_.view();
    kernel_.rung_of = rungs_.view();
    kernel_.replica_of = places_.view();
    kernel_.group_size = replicas;
    kernel_.variables = 1;
    kernel_.state = state_.data();
    kernel_.sums = sums_.view();
    kernel_.parts = parts_.view();
    kernel_.mailbox = mailbox_.data();
    kernel_.ring = {slots_.data(), static_cast<std::uint64_t>(replicas * 4),
                    static_cast<std::uint64_t>(replicas + 2), std::uint64_t{1} << 40,
                    TelemetryLevel::replicas};
  }

  struct Counts {
    std::uint64_t taken = 0, lost = 0, torn = 0;
    double seconds = 0;
  };

  /// Writes so many records, and reads them while the device writes on.
  Counts measure(std::uint64_t records) {
    const Stopwatch spent;
    const std::uint64_t each = kernel_.ring.records_per_epoch, epochs = records / each + 1;
    constexpr std::uint64_t ahead = 8;  // epochs enqueued beyond what is read: more than the ring
    Counts counts;
    std::uint64_t enqueued = 0, next = 0;
    while (next < epochs) {
      for (; enqueued < epochs && enqueued < next + ahead; ++enqueued) {
        queue_.launch(kernel_);
        queue_.launch(AdvanceTick{control_.data(), 1});
      }
      const std::uint64_t done =
          std::atomic_ref(mailbox_.data()->epochs).load(std::memory_order_acquire);
      for (; next < done; ++next) take_epoch(next, counts);
      if (spent.seconds() > 300) throw SelfCheckError("bench.ring", "the ring stands still");
    }
    queue_.wait();
    counts.seconds = spent.seconds();
    return counts;
  }

 private:
  static std::vector<std::int32_t> places_of(std::int64_t replicas) {
    std::vector<std::int32_t> places;
    for (std::int64_t i = 0; i < replicas; ++i) places.push_back(static_cast<std::int32_t>(i));
    return places;
  }

  void take_epoch(std::uint64_t epoch, Counts& counts) {
    const TelemetryRing& ring = kernel_.ring;
    for (std::uint64_t i = 0; i < ring.records_per_epoch; ++i) {
      TelemetryRecord record;
      const auto found = TelemetryRing::read(ring.slot_of(epoch, i), ring.seq_of(epoch, i), record);
      if (found != TelemetryRing::Found::record) {
        ++counts.lost;
        continue;
      }
      ++counts.taken;
      const std::uint32_t subject = i < 2 ? 0 : static_cast<std::uint32_t>(i - 2);
      if (record.step != epoch || record.subject != subject) ++counts.torn;
    }
  }

  Queue& queue_;
  std::int64_t replicas_;
  DeviceArray<double> energy_;
  DeviceArray<std::uint64_t> counts_;
  DeviceArray<std::int32_t> places_, rungs_;
  DeviceArray<RunControl> control_;
  DeviceArray<TelemetryState> state_;
  DeviceArray<TelemetrySums> sums_;
  DeviceArray<TelemetryPart> parts_;
  SharedArray<TelemetryMailbox> mailbox_;
  SharedArray<TelemetrySlot> slots_;
  RecordTelemetry kernel_;
};

void measure_ring(const BenchRun& run, BenchReport& report) {
  const std::uint64_t records = run.options.quick ? 1000000 : 100000000;
  const std::unique_ptr<Queue> queue = run.backend.backend->make_queue();
  const RingCase::Counts counts = RingCase(*queue, 4096).measure(records);
  report.rows.push_back({{"case", "ring"},
                         {"records", counts.taken + counts.lost},
                         {"taken", counts.taken},
                         {"lost", counts.lost},
                         {"torn", counts.torn},
                         {"seconds", counts.seconds}});
  report.notes.push_back(
      fmt::format("ring: {} records written, {} read while the device wrote on, {} overwritten "
                  "before they were read, {} torn",
                  counts.taken + counts.lost, counts.taken, counts.lost, counts.torn));
  if (counts.torn > 0) throw SelfCheckError("bench.ring", "the ring gave records that are torn");
}

void measure_pairs(const BenchRun& run, const TelemetryCase& which, double limit_s,
                   BenchReport& report) {
  const Pairs all = PairsOfRuns(run, which).measure(limit_s);
  const Spread ratio = spread_of(all.ratio);
  report.rows.push_back({{"case", which.name},
                         {"instance", which.instance},
                         {"schedule", which.schedule},
                         {"replicas", all.replicas},
                         {"sweeps", all.sweeps},
                         {"ticks_per_epoch", all.ticks_per_epoch},
                         {"epochs", all.epochs},
                         {"records", all.records},
                         {"lost", all.lost},
                         {"off_s", json_of(spread_of(all.off_s))},
                         {"on_s", json_of(spread_of(all.on_s))},
                         {"overhead", ratio.median - 1},
                         {"ratio", json_of(ratio)}});
  report.table.push_back(
      {which.name, fmt::format("{}", all.replicas), fmt::format("{}", all.ticks_per_epoch),
       fmt::format("{}", all.epochs), three_digits(spread_of(all.off_s).median),
       three_digits(spread_of(all.on_s).median), fmt::format("{:+.2f} %", 100 * (ratio.median - 1)),
       fmt::format("{:+.2f} .. {:+.2f}", 100 * (ratio.lower_quartile - 1),
                   100 * (ratio.upper_quartile - 1))});
}

}  // namespace

BenchReport run_telemetry_suite(const BenchRun& run) {
  BenchReport report;
  report.facts = {{"method", "pairs"},
                  {"method_text",
                   "whole runs by the steady clock, without set-up, with and without epochs, in "
                   "pairs that change their order"}};
  report.table = {
      {"case", "replicas", "ticks/epoch", "epochs", "off s", "on s", "overhead", "quartiles %"}};
  report.notes.push_back(
      "off: no epochs, no incumbents, no records; on: all of them, at the level of the row");
  const auto name_of = [](const TelemetryCase& one) { return one.name; };
  measure_rows(run, all_cases(), name_of, report, [&](const TelemetryCase& one, double limit_s) {
    if (one.schedule.empty()) return measure_ring(run, report);
    measure_pairs(run, one, limit_s, report);
  });
  return report;
}

}  // namespace kiln::cli
