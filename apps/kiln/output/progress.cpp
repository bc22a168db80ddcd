// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr double between_improvements_s = 0.5;
constexpr double between_rows_s = 5.0;
constexpr std::chrono::seconds between_looks{1};  // at the clock

constexpr const char* erase_line = "\r\x1b[2K";
constexpr const char* line_before = "\x1b[1A\r\x1b[2K";  // goes there, and erases it
constexpr const char* bold = "\x1b[1m";
constexpr const char* plain = "\x1b[0m";

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string{} : std::string(text);
}

// Which of so many columns says least. The third is the best value, or how far a sampler is, and
// goes last; before it the time, what is left of it, and what is counted beside it.
std::size_t min_telling(std::size_t columns) {
  constexpr std::size_t time = 0, counted = 1;
  if (columns > 4) return columns - 2;
  return columns == 4 ? counted : columns == 3 ? columns - 1 : time;
}

// A row whose columns are parted by tabs. Of one that is wider than the screen those are left out
// that say least.
std::string row_text(std::string_view row, std::size_t columns) {
  std::vector<std::string_view> cells;
  std::size_t width = row.size();
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = row.find('\t');
    cells.push_back(row.substr(0, end));
    row.remove_prefix(std::min(end, row.size() - 1) + 1);
  }
  while (width > columns && cells.size() > 1) {
    const auto out = cells.begin() + static_cast<std::ptrdiff_t>(min_telling(cells.size()));
    width -= out->size() + 1;
    cells.erase(out);
  }
  return fmt::format("{}", fmt::join(cells, " "));
}

// In the seven columns that it has.
std::string beta_text(double beta) {
  const std::string text = fmt::format("{:.3g}", beta);
  return text.size() <= 7 ? text : fmt::format("{:.2g}", beta);
}

// Columns are parted by tabs, which row_text() makes blanks. Here 79 characters: the whole row fits
// on the usual terminal.
std::string header_row(const std::string& best, bool gap) {
  return fmt::format("  {:>6}\t{:>7}\t{:>13}{}\t{:>9}\t{:>7}\t{:>7}\t{:>7}\t{:>6}", "time",
                     "sweeps", best, gap ? fmt::format("\t{:>7}", "gap") : "", "mean", "accept%",
                     "beta", "moves/s", "left");
}

std::string sampling_header_row() {
  return fmt::format("  {:>6}\t{:>8}\t{:>11}\t{:>11}\t{:>7}\t{:>13}\t{:>6}", "time", "phase",
                     "transitions", "mean lp", "moved%", "transitions/s", "left");
}

std::string front_header_row(const std::string& best, const std::string& counted) {
  return fmt::format("  {:>6}\t{:>11}\t{:>15}\t{:>7}\t{:>13}\t{:>6}", "time", counted, best, "new%",
                     "evaluations/s", "left");
}

std::string evaluation_header_row(const std::string& best, bool gap) {
  return fmt::format("  {:>7}\t{:>11}\t{:>15}{}\t{:>13}\t{:>9}\t{:>7}", "time", "evaluations", best,
                     gap ? fmt::format("\t{:>8}", "gap") : "", "expected gain", "model fit",
                     "left");
}

// The width of a column of notes: its name, or a number.
std::size_t note_width(const std::string& name) { return std::max<std::size_t>(9, name.size()); }

// Of a schedule that has notes on its points: they say more than temperatures that it has not.
std::string noted_header_row(const std::string& best, bool gap, const ReportPoint& p) {
  std::string text = fmt::format("  {:>6}\t{:>7}\t{:>13}", "time", "sweeps", best);
  if (gap) text += fmt::format("\t{:>7}", "gap");
  for (const auto& [name, value] : p.notes) text += fmt::format("\t{:>{}}", name, note_width(name));
  return text + fmt::format("\t{:>7}\t{:>6}", "moves/s", "left");
}

// "max cut", or "max value" where a column is too narrow for the name; a "value" of some kind is
// called by its kind.
std::string heading_of(const Problem& problem, std::size_t width) {
  const char* const sense = problem.units.sense == Sense::maximize ? "max" : "min";
  std::string heading = fmt::format("{} {}", sense, clean(problem.units.value_name));
  constexpr std::string_view kind_of = " value";
  if (heading.size() > width && heading.ends_with(kind_of)) {
    heading.resize(heading.size() - kind_of.size());
  }
  return heading.size() <= width ? heading : fmt::format("{} value", sense);
}

// As many digits as a column has room for.
std::string value_within(double value, bool integral, std::size_t width) {
  std::string text = human_value(value, integral);
  for (int digits = 9; digits > 1 && text.size() > width; --digits) {
    text = fmt::format("{:.{}g}", value, digits);
  }
  return text;
}

// "-" for what is not there or not known.
std::string note_of(const ReportPoint& p, std::string_view name, const char* digits) {
  for (const auto& [known, value] : p.notes) {
    if (known == name && std::isfinite(value)) return fmt::format(fmt::runtime(digits), value);
  }
  return "-";
}

// A number of things, or a mean of it.
std::string note_text(double value) {
  if (!std::isfinite(value)) return "-";
  return std::floor(value) == value ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

}  // namespace

Progress::Progress(const Problem& problem, bool shown, const ProgressTable& table)
    : shown_(shown),
      integral_(problem.units.integral),
      maximize_(problem.units.sense == Sense::maximize),
      best_known_(problem.known.best),
      table_(table),
      heading_(heading_of(problem, table.front || table.few_evaluations ? 15 : 13)),
      variables_(static_cast<double>(problem.objective->space().variables())) {
  live_ = ::isatty(STDERR_FILENO) != 0 && environment("TERM") != "dumb";
  colors_ = live_ && environment("NO_COLOR").empty();
}

Progress::~Progress() {
  clock_ = {};
  if (live_line_) print_row("\n");
}

std::string Progress::header(const ReportPoint& p) const {
  if (table_.few_evaluations) return evaluation_header_row(heading_, best_known_.has_value());
  if (table_.front)
    return front_header_row(heading_, table_.expensive ? "evaluations" : table_.step + "s");
  if (table_.samples) return sampling_header_row();
  if (!p.notes.empty()) return noted_header_row(heading_, best_known_.has_value(), p);
  return header_row(heading_, best_known_.has_value());
}

// An attempt of the engine is a variable's, a transition moves all of them.
std::string Progress::sampling_row_of(const ReportPoint& p) const {
  return fmt::format("  {:>6}\t{:>8}\t{:>11}\t{:>11.5g}\t{:>7.1f}\t{:>13}\t{:>6}",
                     human_seconds(p.time_s), p.sweeps <= table_.warmup ? "warm-up" : "sampling",
                     human_count(static_cast<double>(p.sweeps)), -p.mean,
                     100 * p.acceptance_rate * variables_,
                     human_rate(1e9 * p.attempts_per_ns / variables_),
                     p.time_left_s < 0 ? "-" : human_seconds(p.time_left_s));
}

// An attempt is a variable's here, too; an evaluation makes a whole child.
std::string Progress::front_row_of(const ReportPoint& p, bool improved) const {
  const std::int64_t done = table_.expensive ? p.sweeps * table_.together : p.sweeps;
  return fmt::format("{} {:>6}\t{:>11}\t{:>15.6g}\t{:>7.1f}\t{:>13}\t{:>6}", improved ? '*' : ' ',
                     human_seconds(p.time_s), human_count(static_cast<double>(done)),
                     p.has_best ? p.best : 0.0, 100 * p.acceptance_rate * variables_,
                     human_rate(1e9 * p.attempts_per_ns / variables_),
                     p.time_left_s < 0 ? "-" : human_seconds(p.time_left_s));
}

// A column of this width, where a best known value is.
std::string Progress::gap_of(const ReportPoint& p, int width) const {
  if (!best_known_) return {};
  return fmt::format("\t{:>{}}", gap_behind(p), width);
}

std::string Progress::shown_value(double best) const {
  return value_within(best, integral_, table_.few_evaluations ? 15 : 13);
}

std::string Progress::gap_behind(const ReportPoint& p) const {
  if (!p.has_best) return "-";
  const double behind = maximize_ ? *best_known_ - p.best : p.best - *best_known_;
  // There is no share of 0: the difference itself.
  if (*best_known_ == 0) return fmt::format("{:.2g}", behind);
  return fmt::format("{:.3f}%", 100 * behind / std::abs(*best_known_));
}

std::string Progress::evaluation_row_of(const ReportPoint& p, bool improved) const {
  return fmt::format("{} {:>7}\t{:>11}\t{:>15}{}\t{:>13}\t{:>9}\t{:>7}", improved ? '*' : ' ',
                     human_seconds(p.time_s), note_of(p, "evaluations", "{:.0f}"),
                     p.has_best ? shown_value(p.best) : "-", gap_of(p, 8),
                     note_of(p, "expected_gain", "{:.3g}"), note_of(p, "model_fit", "{:.2f}"),
                     p.time_left_s < 0 ? "-" : human_seconds(p.time_left_s));
}

std::string Progress::noted_row_of(const ReportPoint& p, bool improved) const {
  std::string text = fmt::format(
      "{} {:>6}\t{:>7}\t{:>13}", improved ? '*' : ' ', human_seconds(p.time_s),
      human_count(static_cast<double>(p.sweeps)), p.has_best ? shown_value(p.best) : "-");
  text += gap_of(p, 7);
  for (const auto& [name, value] : p.notes) {
    text += fmt::format("\t{:>{}}", note_text(value), note_width(name));
  }
  return text + fmt::format("\t{:>7}\t{:>6}", human_rate(1e9 * p.attempts_per_ns),
                            p.time_left_s < 0 ? "-" : human_seconds(p.time_left_s));
}

std::string Progress::row_of(const ReportPoint& p, bool improved) const {
  if (table_.samples) return sampling_row_of(p);
  if (table_.front) return front_row_of(p, improved);
  if (table_.few_evaluations) return evaluation_row_of(p, improved);
  if (!p.notes.empty()) return noted_row_of(p, improved);
  return fmt::format(
      "{} {:>6}\t{:>7}\t{:>13}{}\t{:>9}\t{:>7.1f}\t{:>7}\t{:>7}\t{:>6}", improved ? '*' : ' ',
      human_seconds(p.time_s), human_count(static_cast<double>(p.sweeps)),
      p.has_best ? shown_value(p.best) : "-", gap_of(p, 7),
      value_within(integral_ ? std::round(p.mean) : p.mean, integral_, 9), 100 * p.acceptance_rate,
      beta_text(p.beta), human_rate(1e9 * p.attempts_per_ns),
      p.time_left_s < 0 ? "-" : human_seconds(p.time_left_s));
}

// The engine's own is the mean of all that was done, which is right where sweeps are alike.
double Progress::left_s(const ReportPoint& p) {
  if (!table_.expensive) return p.time_left_s;
  remaining_.add(p.sweeps, p.time_s, note_of(p, "expected_gain", "{}") != "-");
  double left = table_.batches ? remaining_.of(*table_.batches - p.sweeps) : -1;
  if (table_.time_limit_s) {
    const double until_limit = std::max(0.0, *table_.time_limit_s - p.time_s);
    left = left < 0 ? until_limit : std::min(left, until_limit);
  }
  return left;
}

// Nothing is known but that it runs.
std::string Progress::first_row() const {
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - newest_at_;
  const std::string under_way =
      table_.together == 1 ? "the first evaluation is running"
                           : fmt::format("the first {} evaluations are running", table_.together);
  return fmt::format("  {:>{}} {:>11}   {}", human_seconds(gone.count()),
                     table_.few_evaluations ? 7 : 6, evaluated_since_, under_way);
}

ReportPoint Progress::newest_by_now() const {
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - newest_at_;
  ReportPoint point = newest_;
  point.time_s += gone.count();
  if (point.time_left_s >= 0) point.time_left_s = std::max(0.0, point.time_left_s - gone.count());
  for (auto& [name, value] : point.notes) {
    if (name == "evaluations") value += static_cast<double>(evaluated_since_);
  }
  return point;
}

void Progress::follow_clock(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, stop, between_looks, [&] { return stop.stop_requested(); })) {
    if (reported_) {
      print(newest_by_now(), Row::live);
      continue;
    }
    erase_live_line();
    print_header(newest_);
    print_live(first_row());
  }
}

void Progress::begin() {
  newest_at_ = std::chrono::steady_clock::now();
  if (!shown_ || !live_ || !table_.expensive) return;
  try {
    clock_ = std::jthread([this](const std::stop_token& stop) {
      try {
        follow_clock(stop);
      } catch (const std::exception&) {
        return;  // a row less: the run, which has more at stake, meets the same
      }
    });
  } catch (const std::system_error&) {
    return;  // no thread is granted: rows come with the reports
  }
}

void Progress::evaluated() {
  const std::lock_guard lock(mutex_);
  ++evaluated_since_;
}

std::size_t Progress::columns() const {
  return live_ ? note_columns() - 1 : std::numeric_limits<std::size_t>::max();
}

void Progress::erase_live_line() {
  if (live_line_) print_row(erase_line);
  live_line_ = false;
}

void Progress::print_header(const ReportPoint& point) {
  std::string now = header(point);
  if (!header_due_ && now == header_) return;  // stages of a pipeline may have other columns
  print_row(row_text(now, columns()) + "\n");
  header_ = std::move(now);
  header_due_ = false;
}

void Progress::print_live(std::string text) {
  // A line that wraps could not be erased.
  if (text.size() >= note_columns()) text.resize(note_columns() - 1);
  print_row(text);
  live_line_ = true;
}

void Progress::print(const ReportPoint& point, Row row) {
  erase_live_line();
  print_header(point);
  std::string text = row_text(row_of(point, row == Row::kept && improved_), columns());
  if (row == Row::live) return print_live(std::move(text));
  if (colors_ && improved_) text = bold + text + plain;
  print_row(text + "\n");
  rows_kept_ = true;
  if (improved_) improved_s_ = point.time_s;
  kept_s_ = point.time_s;
  improved_ = false;
}

void Progress::update(const ReportPoint& point) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  newest_ = point;
  newest_.time_left_s = left_s(point);
  newest_at_ = std::chrono::steady_clock::now();
  reported_ = true;
  evaluated_since_ = 0;
  improved_ |= point.improved && !table_.samples;
  const bool improvement_due = improved_ && point.time_s - improved_s_ >= between_improvements_s;
  const bool row_due = !live_ && point.time_s - kept_s_ >= between_rows_s;
  printed_ = improvement_due || row_due;
  if (printed_) {
    print(newest_, Row::kept);
  } else if (live_) {
    print(newest_, Row::live);
  }
}

void Progress::note(const std::string& line) {
  const std::lock_guard lock(mutex_);
  erase_live_line();
  // Not between the heading and its rows.
  if (live_ && !header_due_ && !rows_kept_) {
    print_row(line_before);
    header_due_ = true;
  }
  print_note(line + "\n");
}

void Progress::finish(std::optional<double> best) {
  if (!shown_) return;
  clock_ = {};
  const std::lock_guard lock(mutex_);
  const bool searches = !table_.samples && !table_.front && newest_.has_best;
  if (best && searches && shown_value(*best) != shown_value(newest_.best)) {
    newest_.best = *best;
    printed_ = false;
  }
  if (!printed_) print(newest_, Row::kept);
  printed_ = true;
}

}  // namespace kiln::cli
