// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "executors/tick_player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "kiln/errors.hpp"

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
// When both are measured: some chunks by graphs, then some by the loop. At the change the host may
// wait for the device, so that the first chunks of the loop seem long: they do not count.
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

double median_of(std::vector<double> values) {
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

void TickPlayer::capture() {
  queue_.begin_capture();
  parts_.tick({});
  tick_ = queue_.end_capture();
  current_ = wanted_ == Executor::loop ? Executor::loop : Executor::graph;
  if (wanted_ == Executor::loop) require_loop();
  if (!decided_) reason_ = too_short;
}

void TickPlayer::drop() noexcept {
  tick_.reset();
  several_.clear();
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
          parts_.control, [this] { parts_.tick({}); }, {}, refusal))
    return;
  throw InvalidArgument("executor.loop", refusal, "ticks that the device can repeat",
                        Fix::use_executor(to_string(Executor::automatic)));
}

// The host captures while the device is busy with what was enqueued before.
void TickPlayer::prepare(std::int64_t count) {
  if (!tick_ || tick_s_ <= 0) return;
  if (current_ == Executor::loop && affords(body_ticks())) capture_loop();
  if (current_ != Executor::loop || !loop_) capture_several(count);
}

bool TickPlayer::affords(std::int64_t ticks) const noexcept {
  const double costs_s = capture_node_s * static_cast<double>(ticks * tick_->nodes());
  return costs_s <= share_to_capture * elapsed_s_;
}

void TickPlayer::capture_several(std::int64_t count) {
  const auto most = static_cast<double>(max_nodes / std::max<std::int64_t>(1, tick_->nodes()));
  const std::int64_t longest =
      std::min(max_ticks, power_of_two(std::min(long_graph_s / tick_s_, most)));
  const std::int64_t ticks = std::min(longest, power_of_two(static_cast<double>(count)));
  const std::int64_t min_ticks = ticks == longest ? 2 * longest_graph() : growth * longest_graph();
  if (ticks < min_ticks || !affords(ticks)) return;
  queue_.begin_capture();
  enqueue_body(ticks);
  several_.push_back({ticks, queue_.end_capture()});
}

void TickPlayer::enqueue_body(std::int64_t ticks) {
  for (std::int64_t i = 1; i <= ticks; ++i) {
    parts_.tick({static_cast<std::uint64_t>(i - 1), static_cast<std::uint64_t>(ticks)});
    if (holds_epochs(ticks) && ends_epoch(static_cast<std::uint64_t>(i))) parts_.end_epoch();
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
  const auto after = [this] { parts_.hand_over(queue_.loop_summary_target()); };
  loop_ = queue_.capture_loop(parts_.control, body, after, refusal_);
}

void TickPlayer::hand_over() {
  if (handed_over_) return queue_.post_loop_summary();
  parts_.hand_over({queue_.summary_target()});
  queue_.post_summary();
}

const TickPlayer::Several* TickPlayer::fitting(std::uint64_t first, std::int64_t count,
                                               bool records) const {
  const Several* found = nullptr;
  for (const Several& one : several_) {
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
Counters TickPlayer::play(std::uint64_t first, std::int64_t count, bool records) {
  const Counters before = queue_.counters();
  Counters of_epochs;  // their ends are no part of a tick
  handed_over_ = false;
  while (count > 0) {
    std::int64_t ticks = 1;
    bool recorded = false;
    handed_over_ = false;
    if (fits_loop(first, count, records)) {
      ticks = count / body_ * body_;
      queue_.replay_loop(*loop_, static_cast<std::uint64_t>(count / body_));
      recorded = handed_over_ = true;
    } else if (const Several* const several = fitting(first, count, records)) {
      ticks = several->ticks;
      queue_.replay(*several->graph);
      recorded = holds_epochs(ticks);
    } else if (tick_) {
      queue_.replay(*tick_);
    } else {
      parts_.tick(records ? TickPlace{first, 0} : TickPlace{});
    }
    first += static_cast<std::uint64_t>(ticks);
    count -= ticks;
    if (recorded || !records || !ends_epoch(first)) continue;
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
  if (tick_ && !decided_) choose_for_trial();
  const double wanted_s = std::clamp(chunk_s(look), 0.0, std::max(0.0, look.limit_s));
  const auto ticks =
      std::min(look.max_ticks, static_cast<std::int64_t>(std::clamp(wanted_s / tick_s_, 1.0, 1e9)));
  const std::int64_t alignment = std::max(longest_graph(), body_);
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
    reason_ = fmt::format("a tick takes {:.3g} us, beside which its launches do not count",
                          1e6 * tick_s_);
    return;
  }
  reason_ = too_short;
  if (!in_trial()) return;
  if (!refusal_.empty()) {
    reason_ = refusal_;
    current_ = Executor::graph;
    decided_ = true;
    return;
  }
  if (graph_trial_.size() >= trial_chunks) current_ = Executor::loop;
}

void TickPlayer::end_chunk(std::int64_t ticks, double seconds) {
  if (chunks_.empty()) return;
  const Executor executor = chunks_.front();
  chunks_.pop_front();
  if (!in_trial() || ticks <= 0) return;
  std::vector<double>& trial = executor == Executor::loop ? loop_trial_ : graph_trial_;
  trial.push_back(seconds / static_cast<double>(ticks));
  if (loop_trial_.size() >= chunks_of_change + trial_chunks) decide();
}

void TickPlayer::decide() {
  // Of graphs the last ones before the change, when all of them were captured.
  const auto last = static_cast<std::ptrdiff_t>(trial_chunks);
  graph_tick_s_ = median_of({graph_trial_.end() - last, graph_trial_.end()});
  loop_tick_s_ = median_of({loop_trial_.end() - last, loop_trial_.end()});
  decided_ = true;
  const double at_most = (parts_.is_told ? worth_it_if_told : worth_it) * graph_tick_s_;
  current_ = loop_tick_s_ < at_most ? Executor::loop : Executor::graph;
  reason_ = fmt::format("a tick took {:.4g} us by loop and {:.4g} us by graph", 1e6 * loop_tick_s_,
                        1e6 * graph_tick_s_);
}

ExecutorChoice TickPlayer::choice() const {
  // A run that ends while the loop is measured did most of its ticks by graphs.
  const Executor most = decided_ || !tick_ ? current_ : Executor::graph;
  return {most, reason_, graph_tick_s_, loop_tick_s_};
}

}  // namespace kiln
