// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "telemetry/run_telemetry.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "kiln/objective.hpp"

namespace kiln {
namespace {

constexpr std::uint64_t epochs_of_budget = 2 * TelemetryRing::thinning;
constexpr std::uint64_t min_ring_records = 1024, epochs_of_ring = 16;

std::uint64_t records_per_epoch(TelemetryLevel level, const ReplicaBatch& batch) {
  std::uint64_t records = level == TelemetryLevel::off ? 0 : 1;
  if (level >= TelemetryLevel::groups) records += static_cast<std::uint64_t>(batch.groups());
  if (level >= TelemetryLevel::replicas) records += static_cast<std::uint64_t>(batch.replicas());
  return records;
}

// A transition evaluates many gradients, each of which takes a sweep at least.
double sweeps_of_tick(const Needs& needs) {
  constexpr double gradients = 32;
  const bool transitions =
      needs.requires_ability<HamiltonianMoves>() || needs.requires_ability<NoUTurnMoves>();
  return (transitions ? gradients : 1) * static_cast<double>(needs.sweeps_per_tick);
}

TelemetryLevel below(TelemetryLevel level) {
  return static_cast<TelemetryLevel>(static_cast<std::uint32_t>(level) - 1);
}

// On a GPU: as long as attempts and operations take at the best rates of today's devices, and no
// less than the sweeps one after the other.
double tick_microseconds(const TickWork& work) {
  constexpr double least_tick_us = 3, least_sweep_us = 1.5;
  constexpr double variable_us = 0.002, attempts_per_us = 1e6, operations_per_us = 2.5e7;
  const auto slots = static_cast<double>(work.replicas);
  const auto sites = static_cast<double>(work.variables);
  const double sweep_us =
      std::max({least_sweep_us, sites * variable_us, slots * sites / attempts_per_us,
                slots * work.sweep_cost / operations_per_us});
  return std::max(least_tick_us, work.sweeps * sweep_us);
}

// A record takes a GPU 10 ns on its way to the host: of so many epochs one is kept that all take
// 2 % of the time.
std::uint64_t epochs_between(std::uint64_t records, double epoch_us) {
  constexpr double record_us = 0.01, share = 0.02;
  std::uint64_t every = 1;
  while (record_us * static_cast<double>(records) > share * static_cast<double>(every) * epoch_us) {
    every *= 2;
  }
  return every;
}

// As an archive keeps it: without the time, and without bytes between the fields.
struct SavedIncumbent {
  double value, energy;
  std::int64_t sweeps, replica, group, rung;
};

}  // namespace

// Recording takes a GPU 5 us, and 5 more for 30,000 replicas.
std::uint64_t ticks_per_epoch(const TickWork& work, bool host_paced) {
  constexpr double least_share = 600, most_us = 15;
  constexpr std::uint64_t most_ticks = 512;
  if (host_paced) return 1;
  const double recording_us = std::min(most_us, 5 + static_cast<double>(work.replicas) / 6000);
  const double tick_us = tick_microseconds(work);
  std::uint64_t ticks = 1;
  while (ticks < most_ticks && static_cast<double>(ticks) * tick_us < least_share * recording_us) {
    ticks *= 2;
  }
  return ticks;
}

RunTelemetry::RunTelemetry(Queue& queue, ReplicaBatch& batch, const Units& units,
                           const Needs& needs, double sweep_cost, bool host_paced,
                           const TelemetryOptions& options)
    : units_(units),
      records_epochs_(options.epochs),
      taker_(options.take),
      queue_(queue),
      state_(queue, std::vector<TelemetryState>(1)),
      log_(queue, options.epochs ? BestLog::capacity : 0),
      sums_(queue, batch.groups()),
      parts_(queue, batch.groups() * RecordTelemetry::nodes_of(batch.group_size())),
      mailbox_(queue, 1) {
  log_.zero();
  sums_.zero();
  kernel_.energy = batch.energy();
  kernel_.best_energy = batch.best_energy();
  kernel_.best_step = batch.best_step();
  kernel_.accepted = batch.accepted();
  kernel_.not_finite = batch.not_finite();
  kernel_.rung_of = batch.rung_of();
  kernel_.replica_of = batch.replica_of();
  kernel_.group_size = batch.group_size();
  kernel_.variables = batch.space().variables();
  kernel_.sweeps_per_tick = needs.sweeps_per_tick;
  const TickWork work{batch.replicas(), kernel_.variables, sweeps_of_tick(needs), sweep_cost};
  kernel_.ticks_per_epoch = kiln::ticks_per_epoch(work, host_paced);
  if (options.interval > 0) shorten_epochs(static_cast<std::uint64_t>(options.interval));
  kernel_.state = state_.data();
  kernel_.log = log_.view();
  kernel_.sums = sums_.view();
  kernel_.parts = parts_.view();
  kernel_.mailbox = mailbox_.data();
  TelemetryLevel level = options.level;
  const auto fits = [&] {
    const std::uint64_t bytes = records_per_epoch(level, batch) * sizeof(TelemetryRecord);
    return bytes * epochs_of_budget + sizeof(TelemetryHeader) <= options.budget_bytes;
  };
  while (level != TelemetryLevel::off && !fits()) level = below(level);
  kernel_.ring.level = level;
  kernel_.ring.records_per_epoch = records_per_epoch(level, batch);
  if (level == TelemetryLevel::off) return;
  if (!host_paced && options.interval == 0) {
    const double epoch_us = static_cast<double>(kernel_.ticks_per_epoch) * tick_microseconds(work);
    kernel_.ring.every = epochs_between(kernel_.ring.records_per_epoch, epoch_us);
  }
  make_ring(options);
}

// Powers of two, as graphs of ticks need them.
void RunTelemetry::shorten_epochs(std::uint64_t sweeps) {
  const std::uint64_t ticks = std::max<std::uint64_t>(1, sweeps / kernel_.sweeps_per_tick);
  kernel_.ticks_per_epoch = std::min(kernel_.ticks_per_epoch, std::bit_floor(ticks));
}

void RunTelemetry::make_ring(const TelemetryOptions& options) {
  const std::uint64_t each = kernel_.ring.records_per_epoch;
  const std::uint64_t bytes = options.budget_bytes - sizeof(TelemetryHeader);
  kernel_.ring.all_of_first = std::max(
      TelemetryRing::thinning, std::bit_floor(bytes / (2 * each * sizeof(TelemetryRecord))));
  kernel_.ring.capacity = std::bit_ceil(std::max(min_ring_records, epochs_of_ring * each));
  slots_ = SharedArray<TelemetrySlot>(queue_, static_cast<std::int64_t>(kernel_.ring.capacity));
  kernel_.ring.slots = slots_.data();
  records_.reserve(each);
}

void RunTelemetry::record(const RunControl* control, View1<const double> beta) {
  if (!records_epochs_) return;
  kernel_.control = control;
  kernel_.beta = beta;
  queue_.launch(kernel_);
}

void RunTelemetry::hand_over(const RunControl* control) {
  if (records_epochs_) launch(RecordTelemetry::Task::log, control);
}

void RunTelemetry::look(const RunControl* control) { launch(RecordTelemetry::Task::look, control); }

void RunTelemetry::launch(RecordTelemetry::Task task, const RunControl* control) {
  RecordTelemetry kernel = kernel_;
  kernel.control = control;
  kernel.task = task;
  queue_.launch(kernel);
}

Incumbent RunTelemetry::incumbent_of(const IncumbentEntry& entry) const {
  return {-1,
          sweeps_before_ + static_cast<std::int64_t>(entry.step),
          units_.objective_of_stored(entry.energy),
          units_.energy_of_stored(entry.energy),
          entry.replica,
          entry.group,
          entry.rung};
}

void RunTelemetry::add_looked() {
  const IncumbentEntry* const now = looked();
  if (now == nullptr) return;
  const Incumbent last = incumbent_of(*now);
  const std::vector<Incumbent>& kept = incumbents_.kept();
  if (kept.empty() || last.energy < kept.back().energy) incumbents_.add(last);
}

void RunTelemetry::take() {
  TelemetryMailbox& mailbox = *mailbox_.data();
  const std::uint64_t epochs = std::atomic_ref(mailbox.epochs).load(std::memory_order_acquire);
  const std::uint64_t incumbents =
      std::atomic_ref(mailbox.incumbents).load(std::memory_order_acquire);
  for (; taken_incumbents_ < incumbents; ++taken_incumbents_) {
    incumbents_.add(incumbent_of(mailbox.log[taken_incumbents_ % TelemetryMailbox::capacity]));
  }
  take_records(epochs);
}

// False: the device has not written all of it, because its numbers may come before its records. A
// place of a ring that is full may be marked for the next record.
bool RunTelemetry::take_epoch(std::uint64_t epoch, std::uint64_t epochs) {
  const TelemetryRing& ring = kernel_.ring;
  const std::uint64_t behind = ring.kept_before(epochs) - ring.kept_before(epoch) + 1;
  const bool is_full = behind >= ring.capacity / ring.records_per_epoch;
  std::uint64_t lost = 0;
  records_.clear();
  for (std::uint64_t i = 0; i < ring.records_per_epoch; ++i) {
    TelemetryRecord record;
    const auto found = TelemetryRing::read(ring.slot_of(epoch, i), ring.seq_of(epoch, i), record);
    if (found == TelemetryRing::Found::nothing_yet && !is_full) return false;
    if (found != TelemetryRing::Found::record) {
      ++lost;
      continue;
    }
    record.energy = units_.energy_of_stored(record.energy);
    record.best = units_.energy_of_stored(record.best);
    record.deviation = static_cast<float>(record.deviation * units_.energy_of_stored.slope());
    records_.push_back(record);
  }
  counts_.lost += lost;
  return true;
}

void RunTelemetry::take_records(std::uint64_t epochs) {
  const TelemetryRing& ring = kernel_.ring;
  for (; counts_.epochs < epochs; ++counts_.epochs) {
    const std::uint64_t epoch = counts_.epochs;
    if (!ring.keeps(epoch)) continue;
    if (!take_epoch(epoch, epochs)) return;
    counts_.records += records_.size();
    if (taker_ && !records_.empty()) taker_(records_);
  }
}

TelemetryHeader RunTelemetry::header() const {
  TelemetryHeader header;
  header.level = kernel_.ring.level;
  header.groups = static_cast<std::uint64_t>(sums_.size());
  header.replicas = header.groups * static_cast<std::uint64_t>(kernel_.group_size);
  header.variables = static_cast<std::uint64_t>(kernel_.variables);
  header.ticks_per_epoch = kernel_.ticks_per_epoch;
  header.sweeps_per_tick = kernel_.sweeps_per_tick;
  header.records_per_epoch = kernel_.ring.records_per_epoch;
  header.all_of_first = kernel_.ring.all_of_first * kernel_.ring.every;
  header.value_slope = units_.objective_of_stored.slope() / units_.energy_of_stored.slope();
  header.value_offset = units_.objective_of_stored(units_.energy_of_stored.inverse(0.0));
  return header;
}

void RunTelemetry::save(Archive& archive) {
  take();
  archive.put("run.telemetry", state_);
  archive.put("run.best_log", log_);
  archive.put("run.telemetry_sums", sums_);
  std::vector<SavedIncumbent> saved;
  std::vector<double> times;
  for (const Incumbent& one : incumbents_.kept()) {
    saved.push_back({one.value, one.energy, one.sweeps, one.replica, one.group, one.rung});
    times.push_back(one.time_s);
  }
  archive.put("run.incumbents", saved);
  archive.put("run.incumbents_found",
              std::vector<std::int64_t>{incumbents_.found(), incumbents_.last_may_go() ? 1 : 0});
  archive.put("clock.incumbents", times);
}

// What the ring holds belongs to the run that wrote it: the next epoch is the first to be taken.
void RunTelemetry::load(const Archive& archive) {
  archive.restore("run.telemetry", state_);
  archive.restore("run.best_log", log_);
  archive.restore("run.telemetry_sums", sums_);
  const auto saved = archive.get<SavedIncumbent>("run.incumbents");
  const auto times = archive.get<double>("clock.incumbents");
  const auto found = archive.get<std::int64_t>("run.incumbents_found");
  if (times.size() != saved.size() || found.size() != 2) {
    throw InvalidArgument("archive.size", "the incumbents of the archive do not fit together");
  }
  std::vector<Incumbent> kept;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const SavedIncumbent& one = saved[i];
    kept.push_back({times[i], one.sweeps, one.value, one.energy, one.replica, one.group,
                    static_cast<std::int32_t>(one.rung)});
  }
  incumbents_.restore(std::move(kept), found[0], found[1] != 0);
  const TelemetryState state = state_.download().front();
  mailbox_.data()->epochs = counts_.epochs = state.epochs;
  mailbox_.data()->incumbents = taken_incumbents_ = state.incumbents;
}

// Of how many there were those that are kept, and of a run that stands there.
bool RunTelemetry::has_sound_incumbents(const RunControl& control) const {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  const std::int64_t size = kernel_.group_size, replicas = sums_.size() * size;
  const auto is_sound = [&](const Incumbent& one) {
    // A replica of -1 was never found: another one was better a tick later. Groups of earlier
    // stages had other sizes.
    const bool of_earlier = one.sweeps < sweeps_before_ + (sweeps_before_ > 0 ? 1 : 0);
    const std::int64_t step = one.sweeps - sweeps_before_;
    return one.sweeps >= 0 && (of_earlier || static_cast<std::uint64_t>(step) <= control.step) &&
           one.replica >= -1 && one.replica < replicas && one.rung >= -1 && one.rung < replicas &&
           (of_earlier ? one.group >= 0 && one.group < replicas
                       : one.group == std::max<std::int64_t>(0, one.replica) / size);
  };
  const auto kept = static_cast<std::int64_t>(incumbents_.kept().size());
  return incumbents_.found() >= kept && incumbents_.found() <= most &&
         std::ranges::all_of(incumbents_.kept(), is_sound);
}

// The first epoch is that of the first states, and each has a tick at least.
bool RunTelemetry::is_sound(const RunControl& control) const {
  const TelemetryState state = state_.download().front();
  const bool none = state.last_tick == ~0ull;
  const auto most = static_cast<std::uint64_t>(BestLog::capacity);
  return state.epochs <= control.tick + 1 && control.noted <= control.tick &&
         state.emptied <= control.noted && control.noted - state.emptied <= most &&
         (control.wanted != control.wanted || control.noted > 0) &&
         state.incumbents <= state.epochs + control.noted &&
         (none ? state.epochs == 0 : state.last_tick <= control.tick) &&
         state.last_step <= control.step && has_sound_incumbents(control);
}

}  // namespace kiln
