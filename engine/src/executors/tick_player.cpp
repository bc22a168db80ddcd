// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "executors/tick_player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/executors/loop_summaries.hpp"

namespace kiln {
namespace {

// What is enqueued between two looks of the host: a share of the run so far, because ticks that
// wait behind a stop still cost their launches, and because Ctrl-C and time limits wait for them.
// At least what a look takes, and at most the interval between two report points.
constexpr double share_of_run = 0.125;
constexpr double min_chunk_s = 150e-6, launched_chunk_s = 0.01, graph_chunk_s = 0.064;
// Graphs of several ticks: each but the longest has at least `growth` times the ticks of the one
// before, and to capture it takes a small share of the run so far.
constexpr std::int64_t growth = 4, max_ticks = 8192, max_nodes = 16384;
constexpr double long_graph_s = graph_chunk_s;
constexpr double capture_node_s = 4e-6, share_to_capture = 0.05;
// An iteration of a loop takes 4 to 5 us beside its ticks (H200).
constexpr double body_s = 1e-3;
constexpr std::int64_t max_body_ticks = 512;
// Longer ticks do not gain by a loop.
constexpr double short_tick_s = 200e-6;
// A launch of several ticks is held up by nothing: two runs of a device share it in such pieces.
constexpr double launch_s = 2e-3;
// When they are measured: some chunks by graphs, then some by the loop, then some by resident
// graphs. At a change the host may wait for the device, so that the first chunks seem long: those
// of the loop and of resident graphs do not count.
constexpr double trial_begin_s = 0.2;
constexpr std::size_t trial_chunks = 4, chunks_of_change = 3;
// Ticks of a graph that are enqueued behind a hold are launched all the same, some thousand of
// them, before a command can act; a loop ends at once.
constexpr double worth_it = 0.99, worth_it_if_told = 1.01;
constexpr const char* too_short = "the run ended before the loop was measured";

std::int64_t power_of_two(double at_most) {
  return at_most < 2 ? 1
                     : static_cast<std::int64_t>(
                           std::bit_floor(static_cast<std::uint64_t>(std::min(at_most, 1e9))));
}

// Median of the last chunks of a trial. 0: they are too few.
double seconds_of(const std::vector<double>& trial, std::size_t wanted) {
  if (trial.size() < wanted) return 0;
  std::vector<double> values(trial.end() - static_cast<std::ptrdiff_t>(trial_chunks), trial.end());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

TickPlayer::TickPlayer(Queue& queue, ExecutorChoice wanted, Parts parts)
    : queue_(queue),
      wanted_(wanted.executor),
      parts_(std::move(parts)),
      reason_(std::move(wanted.reason)),
      decided_(wanted_ != Executor::automatic) {
  if (!decided_) reason_ = "the run has few ticks";
}

// What throws leaves no queue that captures: a run that is loaded then goes on.
std::unique_ptr<TickGraph> TickPlayer::capture_graph(FunctionRef<void()> enqueue) {
  queue_.begin_capture();
  try {
    enqueue();
  } catch (...) {
    try {
      queue_.end_capture();
    } catch (const Error&) {  // of a capture that has failed already
    }
    throw;
  }
  return queue_.end_capture();
}

void TickPlayer::touch() {
  parts_.tick({}, 1);
  if (wanted_ == Executor::resident) enqueue_pair();
}

void TickPlayer::capture() {
  tick_ = capture_graph([&] { parts_.tick({}, 1); });
  if (wanted_ == Executor::loop) require_loop();
  if (wanted_ == Executor::resident) require_resident();
  begun_ = true;
  if (wanted_ != Executor::automatic) {
    current_ = wanted_;
  } else if (!decided_) {
    current_ = Executor::graph;
    reason_ = too_short;
  }
}

void TickPlayer::drop() noexcept {
  tick_.reset();
  several_.clear();
  resident_.clear();
  loop_.reset();
  body_ = 0;
}

std::int64_t TickPlayer::body_ticks() const noexcept {
  return body_ > 0 ? body_ : std::min(max_body_ticks, 2 * power_of_two(0.75 * body_s / tick_s_));
}

// Before the first tick: what refuses to run later would lose what the run has found.
void TickPlayer::require_loop() {
  std::string refusal;
  if (queue_.capture_loop(
          parts_.control, [this] { parts_.tick({}, 1); }, {}, refusal))
    return;
  refuse("executor.loop", refusal, "ticks that the device can repeat");
}

void TickPlayer::refuse(const char* code, const std::string& reason, const char* allowed) {
  if (parts_.may_refuse) {
    throw InvalidArgument(code, reason, allowed, Fix::use_executor(to_string(Executor::automatic)));
  }
  wanted_ = Executor::graph;
  reason_ = reason;
}

// Ticks that have become others during the run may be single launches.
void TickPlayer::require_resident() {
  if (begun_ || *merges_) return;
  refuse("executor.resident", "executor resident does not apply to this run: " + why_one_,
         "ticks of which a launch can make several");
}

// The first two ticks of a body: if they are one launch, bodies have launches of several ticks.
std::int64_t TickPlayer::enqueue_pair() {
  const bool may = parts_.ticks_per_epoch != 1;
  const std::int64_t ticks = parts_.tick({0, 2}, may ? 2 : 1);
  merges_ = ticks > 1;
  if (!*merges_) why_one_ = may ? parts_.why_one() : "its telemetry has an epoch for each tick";
  return ticks;
}

// The host captures while the device is busy with what was enqueued before.
void TickPlayer::prepare(std::int64_t count) {
  if (!tick_ || tick_s_ <= 0) return;
  if (current_ == Executor::resident) {
    if (merges_) capture_several(resident_, count);
    return;
  }
  if (current_ == Executor::loop && affords(body_ticks())) capture_loop();
  if (current_ != Executor::loop || !loop_) capture_several(several_, count);
}

// A longer resident graph has at most as many for each tick as a shorter one.
std::int64_t TickPlayer::nodes_of(std::int64_t ticks) const noexcept {
  if (current_ != Executor::resident || resident_.empty()) return ticks * tick_->nodes();
  const Several& longest = resident_.back();
  return ticks * longest.graph->nodes() / longest.ticks;
}

bool TickPlayer::affords(std::int64_t ticks) const noexcept {
  const double costs_s = capture_node_s * static_cast<double>(nodes_of(ticks));
  return costs_s <= share_to_capture * elapsed_s_;
}

// One look that comes late makes ticks seem short: those of the run so far do not.
std::int64_t TickPlayer::ticks_at_once() const noexcept {
  return power_of_two(launch_s / std::max(tick_s_, mean_tick_s_));
}

void TickPlayer::capture_several(Graphs& graphs, std::int64_t count) {
  const auto most = static_cast<double>(max_nodes / std::max<std::int64_t>(1, tick_->nodes()));
  const std::int64_t longest =
      std::min(max_ticks, power_of_two(std::min(long_graph_s / tick_s_, most)));
  const std::int64_t ticks = std::min(longest, power_of_two(static_cast<double>(count)));
  const std::int64_t before = longest_of(graphs);
  const std::int64_t min_ticks = ticks == longest ? 2 * before : growth * before;
  if (ticks < min_ticks || !affords(ticks)) return;
  const std::int64_t at_once = &graphs == &resident_ ? ticks_at_once() : 1;
  graphs.push_back({ticks, capture_graph([&] { enqueue_body(ticks, at_once); })});
}

// No launch has ticks of two epochs.
void TickPlayer::enqueue_body(std::int64_t ticks, std::int64_t at_once) {
  const bool records = holds_epochs(ticks);
  for (std::int64_t done = 0; done < ticks;) {
    const TickPlace place{static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(ticks)};
    std::int64_t most = std::min(at_once, ticks - done);
    if (records) {
      const auto epoch = static_cast<std::int64_t>(parts_.ticks_per_epoch);
      most = std::min(most, epoch - done % epoch);
    }
    done += parts_.tick(place, most);
    if (records && ends_epoch(static_cast<std::uint64_t>(done))) parts_.end_epoch();
  }
}

void TickPlayer::capture_loop() {
  if (loop_ || !refusal_.empty()) return;
  body_ = body_ticks();
  const auto body = [&] {
    enqueue_body(body_);
    // Without effect where no epoch ends, and most bodies are a part of one.
    if (parts_.ticks_per_epoch > 0 && !holds_epochs(body_)) parts_.end_epoch();
  };
  const auto after = [this] { parts_.hand_over(loop_summary_target(queue_)); };
  loop_ = queue_.capture_loop(parts_.control, body, after, refusal_);
}

void TickPlayer::hand_over() {
  if (handed_over_) return post_loop_summary(queue_);
  parts_.hand_over({queue_.summary_target()});
  queue_.post_summary();
}

const TickPlayer::Several* TickPlayer::fitting(const Graphs& graphs, std::uint64_t first,
                                               std::int64_t count, bool records) const {
  const Several* found = nullptr;
  for (const Several& one : graphs) {
    const bool aligned = first % static_cast<std::uint64_t>(one.ticks) == 0;
    if (count >= one.ticks && aligned && (records || !holds_epochs(one.ticks))) found = &one;
  }
  return found;
}

bool TickPlayer::fits_loop(std::uint64_t first, std::int64_t count, bool records) const {
  return loop_ && current_ == Executor::loop && records && count >= 2 * body_ &&
         first % static_cast<std::uint64_t>(body_) == 0;
}

// Graphs begin at a multiple of their ticks, so that an epoch ends within them at the places where
// they recorded its end, or at their own end.
std::int64_t TickPlayer::play_some(std::uint64_t first, std::int64_t count, bool records) {
  recorded_ = handed_over_ = false;
  if (fits_loop(first, count, records)) {
    queue_.replay_loop(*loop_, static_cast<std::uint64_t>(count / body_));
    recorded_ = handed_over_ = true;
    return count / body_ * body_;
  }
  const bool resident = current_ == Executor::resident;
  if (resident && !merges_ && records && count >= 2 && first % 2 == 0) {
    return enqueue_pair();
  }
  const Several* several = resident ? fitting(resident_, first, count, records) : nullptr;
  if (several != nullptr) {
    played_ = Executor::resident;
  } else {
    several = fitting(several_, first, count, records);
  }
  if (several != nullptr) {
    queue_.replay(*several->graph);
    recorded_ = holds_epochs(several->ticks);
    return several->ticks;
  }
  if (tick_) {
    queue_.replay(*tick_);
    return 1;
  }
  return parts_.tick(records ? TickPlace{first, 0} : TickPlace{}, 1);
}

Counters TickPlayer::play(std::uint64_t first, std::int64_t count, bool records) {
  const Counters before = queue_.counters();
  Counters of_epochs;  // their ends are no part of a tick
  handed_over_ = false;
  played_ = current_ == Executor::resident ? Executor::automatic : current_;
  while (count > 0) {
    const std::int64_t ticks = play_some(first, count, records);
    first += static_cast<std::uint64_t>(ticks);
    count -= ticks;
    if (recorded_ || !records || !ends_epoch(first)) continue;
    const Counters before_end = queue_.counters();
    parts_.end_epoch();
    of_epochs += queue_.counters() - before_end;
  }
  return queue_.counters() - before - of_epochs;
}

bool TickPlayer::in_trial() const noexcept {
  return tick_ && !decided_ && tick_s_ <= short_tick_s && elapsed_s_ >= trial_begin_s;
}

double TickPlayer::chunk_s(const Look& look) const noexcept {
  const double share_s = std::max(min_chunk_s, share_of_run * look.elapsed_s);
  if (!tick_) return std::min(share_s, launched_chunk_s);
  const double report_s = std::max(look.interval_s, launched_chunk_s);
  const bool loops = current_ == Executor::loop && !in_trial();
  return std::min(share_s, loops ? report_s : std::min(report_s, graph_chunk_s));
}

// A chunk ends where the longest graph and an iteration of the loop can begin.
std::int64_t TickPlayer::chunk(const Look& look) {
  if (tick_s_ <= 0) return 1;
  elapsed_s_ = look.elapsed_s;
  mean_tick_s_ = look.enqueued > 0 ? look.elapsed_s / static_cast<double>(look.enqueued) : 0;
  if (tick_ && !decided_) choose_for_trial();
  const double wanted_s = std::clamp(chunk_s(look), 0.0, std::max(0.0, look.limit_s));
  const auto ticks =
      std::min(look.max_ticks, static_cast<std::int64_t>(std::clamp(wanted_s / tick_s_, 1.0, 1e9)));
  const std::int64_t alignment = std::max({longest_of(several_), longest_of(resident_), body_});
  const auto begun =
      static_cast<std::int64_t>(look.enqueued % static_cast<std::uint64_t>(alignment));
  std::int64_t multiples = (begun + ticks) / alignment;
  const double rounded_up_s = tick_s_ * static_cast<double>((multiples + 1) * alignment - begun);
  const bool fits = (multiples + 1) * alignment - begun <= look.max_ticks;
  if (ticks >= alignment && fits && rounded_up_s <= look.limit_s) ++multiples;
  return multiples * alignment > begun ? multiples * alignment - begun : ticks;
}

void TickPlayer::choose_for_trial() {
  if (wanted_ != Executor::automatic) return;
  if (tick_s_ > short_tick_s) {
    reason_ = fmt::format("a tick takes {:.3g} ms, beside which its launches do not count",
                          1e3 * tick_s_);
    return;
  }
  reason_ = too_short;
  if (!in_trial() || graph_trial_.size() < trial_chunks) return;
  if (!measured_loop()) {
    current_ = Executor::loop;
  } else if (merges_.value_or(true)) {
    current_ = Executor::resident;
  } else {
    decide();
  }
}

// Or asked the device for it.
bool TickPlayer::measured_loop() const noexcept {
  return !refusal_.empty() || loop_trial_.size() >= chunks_of_change + trial_chunks;
}

void TickPlayer::end_chunk(std::int64_t ticks, double seconds) {
  if (chunks_.empty()) return;
  const Executor executor = chunks_.front();
  chunks_.pop_front();
  if (!in_trial() || ticks <= 0 || executor == Executor::automatic) return;
  std::vector<double>& trial = executor == Executor::loop       ? loop_trial_
                               : executor == Executor::resident ? resident_trial_
                                                                : graph_trial_;
  trial.push_back(seconds / static_cast<double>(ticks));
  if (resident_trial_.size() >= chunks_of_change + trial_chunks) decide();
}

ExecutorChoice TickPlayer::judged() const {
  // Of graphs the last ones before the change, when all of them were captured.
  const double by_graph = seconds_of(graph_trial_, trial_chunks),
               by_loop = seconds_of(loop_trial_, chunks_of_change + trial_chunks),
               by_resident = seconds_of(resident_trial_, chunks_of_change + trial_chunks);
  if (by_loop <= 0 && by_resident <= 0) return {Executor::graph, refusal_};
  ExecutorChoice choice{Executor::graph, "a tick took ", by_graph, by_loop, by_resident};
  const double at_most = (parts_.is_told ? worth_it_if_told : worth_it) * by_graph;
  if (by_loop > 0 && by_loop < at_most) choice.executor = Executor::loop;
  if (by_resident > 0) {
    const double others_s = by_loop > 0 ? std::min(by_loop, by_graph) : by_graph;
    if (by_resident < worth_it * others_s) choice.executor = Executor::resident;
    choice.reason += fmt::format("{:.4g} us by resident", 1e6 * by_resident);
    if (by_loop > 0) choice.reason += ", ";
  }
  if (by_loop > 0) choice.reason += fmt::format("{:.4g} us by loop", 1e6 * by_loop);
  choice.reason += fmt::format(" and {:.4g} us by graph", 1e6 * by_graph);
  return choice;
}

void TickPlayer::decide() {
  measured_ = judged();
  current_ = measured_.executor;
  reason_ = measured_.reason;
  decided_ = true;
}

// A run that ends before the loop is measured did most of its ticks by graphs.
ExecutorChoice TickPlayer::choice() const {
  if (!decided_ && begun_) {
    return measured_loop() ? judged() : ExecutorChoice{Executor::graph, reason_};
  }
  ExecutorChoice choice = measured_;
  choice.executor = current_;
  choice.reason = reason_;
  return choice;
}

}  // namespace kiln
