// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/telemetry/record.hpp"
#include "kiln/telemetry/ring.hpp"

namespace kiln {

/// Sums over some slots of a group. Energies are added as differences from an origin, the energy of
/// the first slot of the group: sums of integers are exact, and little cancels.
struct TelemetryPart {
  static constexpr std::int32_t no_replica = 0x7FFFFFFF;

  std::uint64_t count;  ///< finite energies
  double sum, square;   ///< of the differences, and of their squares
  double least, most;   ///< energies
  std::uint64_t accepted, not_finite;
  double best;
  std::int32_t replica, slot;

  KILN_HD static TelemetryPart nothing() {
    const double none = exact::infinity();
    return {0, 0, 0, none, -none, 0, 0, none, no_replica, -1};
  }
};

/// Ends an epoch of ticks: reduces the energies of each group, adds them to its sums, hands the
/// improvements of the best of all replicas to the host, and writes records into the ring.
///
/// An epoch ends when the ticks done are a multiple of ticks_per_epoch, and is recorded once: any
/// other launch does nothing, but for two tasks that are done at any time: to hand over what the
/// log has, and to look, which also tells the best of all replicas so far. Improvements are those
/// that AdvanceTick has noted in the log, and that of the epoch if it is better than they; of
/// several replicas with the best energy the first counts. Padding slots and energies that are not
/// finite never count.
///
/// Class E: sums are added in an order that the group size alone decides. A node has 256 slots:
/// lane l of 32 adds its slots l, l + 32, ..., then lane l adds lane l + 16, l + 8, ... . The nodes
/// of a group are added likewise, by lanes_of(nodes) lanes, and so are the epochs of the groups, by
/// 1024 lanes.
struct KILN_API RecordTelemetry {
  static constexpr const char* name = "record_telemetry";
  static constexpr const char* summary =
      "ends an epoch: adds energies to the sums of each group, hands over improvements, writes "
      "telemetry";
  static constexpr std::int64_t node_size = 256;
  static constexpr int node_lanes = 32, wide_lanes = 1024;
  enum class Task : std::uint8_t { epoch, look, log };

  const RunControl* control = nullptr;
  View1<const double> energy, best_energy;                     ///< [slots]
  View1<const std::uint64_t> best_step, accepted, not_finite;  ///< [slots]
  View1<const std::int32_t> rung_of, replica_of;               ///< [slots]
  View1<const double> beta;                                    ///< [rungs]; may be empty
  std::int64_t group_size = 0;                                 ///< replicas of a group
  std::int64_t variables = 0;
  std::uint64_t ticks_per_epoch = 1;
  std::uint64_t sweeps_per_tick = 1;
  TelemetryState* state = nullptr;
  View1<TelemetrySums> sums;   ///< [groups]
  View1<TelemetryPart> parts;  ///< [groups * nodes()], scratch
  TelemetryMailbox* mailbox = nullptr;
  TelemetryRing ring;
  View1<const BestLogEntry> log;  ///< [BestLog::capacity]; may be empty
  Task task = Task::epoch;        ///< look writes TelemetryMailbox::now

  KILN_HD std::int64_t groups() const { return sums.size; }
  /// Of a group.
  KILN_HD std::int64_t nodes() const { return nodes_of(group_size); }
  KILN_HD static std::int64_t nodes_of(std::int64_t group_size) {
    return (group_size + node_size - 1) / node_size;
  }
  KILN_HD static int lanes_of(std::int64_t nodes) { return nodes <= 64 ? node_lanes : wide_lanes; }
  /// What a launch reads and writes at least.
  double bytes() const {
    return 40.0 * static_cast<double>(group_size * groups()) +
           2.0 * static_cast<double>(sizeof(TelemetrySums)) * static_cast<double>(groups());
  }

  KILN_HD bool due() const {
    return task != Task::epoch || (control->tick % ticks_per_epoch == 0 &&
                                   (state->epochs == 0 || control->tick != state->last_tick));
  }

  KILN_HD double origin_of(std::int64_t group) const {
    const double first = energy[group * group_size];
    return is_finite(first) ? first : 0.0;
  }
  KILN_HD static bool is_finite(double x) { return exact::sub(x, x) == 0; }

  KILN_HD void add_slot(TelemetryPart& part, std::int64_t slot, double origin) const {
    const double now = energy[slot];
    if (is_finite(now)) {
      const double off = exact::sub(now, origin);
      ++part.count;
      part.sum = exact::add(part.sum, off);
      part.square = exact::add(part.square, exact::mul(off, off));
      part.least = now < part.least ? now : part.least;
      part.most = now > part.most ? now : part.most;
    }
    part.accepted += accepted[slot];
    part.not_finite += not_finite[slot];
    take_best(part, best_energy[slot], replica_of[slot], static_cast<std::int32_t>(slot));
  }

  KILN_HD static void add(TelemetryPart& to, const TelemetryPart& part) {
    to.count += part.count;
    to.sum = exact::add(to.sum, part.sum);
    to.square = exact::add(to.square, part.square);
    to.least = part.least < to.least ? part.least : to.least;
    to.most = part.most > to.most ? part.most : to.most;
    to.accepted += part.accepted;
    to.not_finite += part.not_finite;
    take_best(to, part.best, part.replica, part.slot);
  }

  /// Of equal energies the first replica's; +infinity is none.
  template <class Part>
  KILN_HD static void take_best(Part& to, double best, std::int32_t replica, std::int32_t slot) {
    if (!(best < exact::infinity())) return;
    if (best > to.best || (best == to.best && replica >= to.replica)) return;
    to.best = best;
    to.replica = replica;
    to.slot = slot;
  }

  /// Adds energies with their mean and squares, by Chan's formula.
  template <class To, class From>
  KILN_HD static void merge_spread(To& to, const From& from) {
    if (from.count == 0) return;
    const auto before = static_cast<double>(to.count), more = static_cast<double>(from.count);
    const double all = exact::add(before, more);
    const double off = exact::sub(from.mean, to.mean);
    if (to.count == 0) {
      to.mean = from.mean;
      to.m2 = from.m2;
    } else {
      const double part = exact::div(more, all);
      const double between = exact::mul(exact::mul(off, off), exact::mul(before, part));
      to.mean = exact::add(to.mean, exact::mul(off, part));
      to.m2 = exact::add(exact::add(to.m2, from.m2), between);
    }
    const bool first = to.count == 0;
    to.least = first || from.least < to.least ? from.least : to.least;
    to.most = first || from.most > to.most ? from.most : to.most;
    to.count += from.count;
  }

  KILN_HD static TelemetryEpoch no_epoch() {
    const double none = exact::infinity();
    return {0, 0, 0, none, -none, 0, 0, none, TelemetryPart::no_replica, -1};
  }
  KILN_HD static void merge(TelemetryEpoch& to, const TelemetryEpoch& from) {
    merge_spread(to, from);
    to.accepted += from.accepted;
    to.not_finite += from.not_finite;
    take_best(to, from.best, from.replica, from.slot);
  }

  /// The epoch of a group whose slots are all in `part`; adds it to the sums, and writes its
  /// record. The best replica is no_replica if there is none.
  KILN_HD void finish_group(std::int64_t group, const TelemetryPart& part) const {
    TelemetrySums& own = sums[group];
    TelemetryEpoch epoch = no_epoch();
    epoch.count = part.count;
    if (part.count > 0) {
      const auto n = static_cast<double>(part.count);
      const double mean = exact::div(part.sum, n);
      const double m2 = exact::sub(part.square, exact::mul(mean, part.sum));
      epoch.mean = exact::add(origin_of(group), mean);
      epoch.m2 = m2 > 0 ? m2 : 0.0;
    }
    epoch.least = part.least;
    epoch.most = part.most;
    epoch.accepted = part.accepted - own.accepted;
    epoch.not_finite = part.not_finite - own.not_finite;
    take_best(epoch, part.best, part.replica, part.slot);
    merge_spread(own, epoch);
    ++own.epochs;
    own.accepted = part.accepted;
    own.not_finite = part.not_finite;
    own.last = epoch;
    if (ring.level >= TelemetryLevel::groups && ring.keeps(state->epochs)) {
      ring.publish(state->epochs, static_cast<std::uint64_t>(1 + group),
                   record_of(epoch, TelemetryKind::group, group, group_size));
    }
  }

  /// Ends the epoch, by one thread, when all groups are finished and merged.
  KILN_HD void finish(const TelemetryEpoch& all) const {
    TelemetryState next = *state;
    TelemetryRecord record = record_of(all, TelemetryKind::run, 0, group_size * groups());
    empty_log(next);
    const std::uint64_t key = all.slot >= 0 ? exact::order_key(all.best) : ~0ull;
    if (key < next.epoch_key) record.flags |= TelemetryRecord::improved_bit;
    next.epoch_key = key;
    if (key < next.best_key) hand_over(next, key, entry_of(all));
    // The fence of the record is also that of the entry.
    const bool kept = ring.keeps(next.epochs);
    if (kept) ring.publish(next.epochs, 0, record);
    ++next.epochs;
    next.last_tick = control->tick;
    next.last_step = control->step;
    *state = next;
    tell(next, !kept);
  }

  /// Tells the best of all replicas, by one thread.
  KILN_HD void look(const TelemetryPart& all) const {
    mailbox->now = entry_of(all);
    if (all.slot < 0) mailbox->now.replica = -1;
    hand_over_log();
  }

  /// Hands over what the log has, by one thread.
  KILN_HD void hand_over_log() const {
    TelemetryState next = *state;
    empty_log(next);
    if (next.emptied == state->emptied) return;
    *state = next;
    tell(next, true);
  }

  KILN_HD void publish_replica(std::int64_t slot) const {
    const std::int32_t rung = rung_of[slot];
    TelemetryRecord record{};
    record.step = control->step;
    record.subject = static_cast<std::uint32_t>(replica_of[slot]);
    record.rung = rung;
    record.energy = is_finite(energy[slot]) ? energy[slot] : exact::not_a_number();
    record.best = best_energy[slot];
    record.beta = beta_of(rung);
    record.acceptance = share(accepted[slot], control->step, 1);
    record.not_finite = clamped(not_finite[slot]);
    record.flags = static_cast<std::uint32_t>(TelemetryKind::replica);
    ring.publish(state->epochs, static_cast<std::uint64_t>(1 + groups() + replica_of[slot]),
                 record);
  }

 private:
  KILN_HD void hand_over(TelemetryState& next, std::uint64_t key,
                         const IncumbentEntry& entry) const {
    next.best_key = key;
    mailbox->log[next.incumbents++ % TelemetryMailbox::capacity] = entry;
  }
  // The finder of the last entry may not be known yet: it waits.
  KILN_HD void empty_log(TelemetryState& next) const {
    if (log.size == 0) return;
    const bool waits = control->wanted == control->wanted;
    for (; next.emptied + (waits ? 1 : 0) < control->noted; ++next.emptied) {
      const BestLogEntry& one = log[BestLog::place_of(next.emptied)];
      if (one.key >= next.best_key) continue;
      IncumbentEntry entry{};
      entry.step = one.step;
      entry.energy = exact::from_order_key(one.key);
      entry.replica = one.replica;
      entry.group = static_cast<std::int32_t>(one.replica < 0 ? 0 : one.replica / group_size);
      entry.rung = one.rung;
      hand_over(next, one.key, entry);
    }
  }
  KILN_HD double beta_of(std::int32_t rung) const {
    return rung >= 0 && rung < beta.size ? beta[rung] : 0.0;
  }
  KILN_HD static std::uint32_t clamped(std::uint64_t count) {
    return count > 0xFFFFFFFFull ? 0xFFFFFFFFu : static_cast<std::uint32_t>(count);
  }
  KILN_HD float share(std::uint64_t count, std::uint64_t steps, std::int64_t replicas) const {
    if (steps == 0) return 0;
    const double each = exact::mul(static_cast<double>(steps), static_cast<double>(variables));
    return static_cast<float>(
        exact::div(static_cast<double>(count), exact::mul(each, static_cast<double>(replicas))));
  }
  KILN_HD TelemetryRecord record_of(const TelemetryEpoch& epoch, TelemetryKind kind,
                                    std::int64_t subject, std::int64_t replicas) const {
    TelemetryRecord record{};
    record.step = control->step;
    record.subject = static_cast<std::uint32_t>(subject);
    record.rung = epoch.slot >= 0 ? rung_of[epoch.slot] : -1;
    record.energy = epoch.count > 0 ? epoch.mean : exact::not_a_number();
    record.best = epoch.best;
    record.beta = beta_of(record.rung);
    const auto n = static_cast<double>(epoch.count);
    record.deviation =
        epoch.count > 0 ? static_cast<float>(exact::sqrt(exact::div(epoch.m2, n))) : 0.0f;
    record.acceptance = share(epoch.accepted, control->step - state->last_step, replicas);
    record.not_finite = clamped(epoch.not_finite);
    record.flags = static_cast<std::uint32_t>(kind);
    return record;
  }
  template <class Part>
  KILN_HD IncumbentEntry entry_of(const Part& all) const {
    IncumbentEntry entry{};
    if (all.slot < 0) return entry;
    const std::uint64_t end = best_step[all.slot] + sweeps_per_tick;
    entry.step = end < control->step ? end : control->step;
    entry.energy = all.best;
    entry.replica = all.replica;
    entry.group = static_cast<std::int32_t>(all.slot / group_size);
    entry.rung = rung_of[all.slot];
    return entry;
  }
  // Payload first: a host that reads the numbers also finds the entries.
  KILN_HD void tell(const TelemetryState& now, [[maybe_unused]] bool fence) const {
#if defined(__CUDA_ARCH__)
    if (fence) __threadfence_system();
    *static_cast<volatile std::uint64_t*>(&mailbox->incumbents) = now.incumbents;
    *static_cast<volatile std::uint64_t*>(&mailbox->epochs) = now.epochs;
#else
    std::atomic_ref(mailbox->incumbents).store(now.incumbents, std::memory_order_release);
    std::atomic_ref(mailbox->epochs).store(now.epochs, std::memory_order_release);
#endif
  }
};

}  // namespace kiln
