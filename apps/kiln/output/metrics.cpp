// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/version.hpp"

#include "output/atomic_file.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr std::chrono::seconds between_writes{1};
constexpr std::string_view beginning = "# HELP kiln_run_active ";

std::string escaped_label(std::string_view text) {
  std::string label;
  for (const char c : clean(text)) {
    if (c == '\\' || c == '"') label += '\\';
    label += c;
  }
  return label;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

/// Collects families of metrics, each with its samples.
class MetricWriter {
 public:
  explicit MetricWriter(const MetricLabels& labels)
      : labels_(fmt::format(R"(problem="{}",schedule="{}",device="{}",seed="{}")",
                            escaped_label(labels.problem), escaped_label(labels.schedule),
                            escaped_label(labels.device), labels.seed)) {}

  /// @param unit  the last part of the name; "" for numbers without a unit
  void family(std::string_view name, std::string_view unit, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
    if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", name, unit);
  }
  void sample(double value, std::string_view label = {}, std::string_view label_value = {}) {
    std::string labels = labels_;
    if (!label.empty()) labels += fmt::format(R"(,{}="{}")", label, escaped_label(label_value));
    text_ += fmt::format("{}{{{}}} {}\n", name_, labels, number_text(value));
  }
  void add(std::string_view name, std::string_view unit, std::string_view help, double value) {
    family(name, unit, help);
    sample(value);
  }
  std::string text() const { return text_ + "# EOF\n"; }

 private:
  std::string labels_, name_, text_;
};

void add_progress(MetricWriter& out, const MetricReading& reading) {
  const ReportPoint& p = reading.point;
  out.add("kiln_run_elapsed_seconds", "seconds", "Time since the run began.", p.time_s);
  if (p.time_left_s >= 0 && reading.stop.empty()) {
    out.add("kiln_run_left_seconds", "seconds", "Estimated time until the limit of the run.",
            p.time_left_s);
  }
  out.add("kiln_run_steps", "", "Sweeps, generations or transitions of each replica so far.",
          static_cast<double>(p.sweeps));
  out.add("kiln_run_attempts", "", "Attempted moves of all replicas so far.", p.attempts);
  if (reading.quantities.contains("attempts_per_ns")) {
    out.add("kiln_run_attempts_per_second", "",
            "Attempted moves of all replicas per second, since the report point before.",
            1e9 * p.attempts_per_ns);
  }
}

void add_values(MetricWriter& out, const MetricReading& reading) {
  const ReportPoint& p = reading.point;
  if (reading.best) {
    out.add("kiln_best_value", "", "Best objective value so far.", *reading.best);
    out.add("kiln_best_found_seconds", "seconds", "Time of the run at its last improvement.",
            reading.improved_s);
  }
  if (reading.best_known) {
    out.add("kiln_best_known_value", "", "Best objective value on record.", *reading.best_known);
  }
  if (reading.best && reading.best_known && *reading.best_known != 0) {
    out.add("kiln_gap_ratio", "ratio", "Distance from the best known value, relative to it.",
            std::abs(*reading.best - *reading.best_known) / std::abs(*reading.best_known));
  }
  const std::set<std::string>& has = reading.quantities;
  if (has.contains("mean")) {
    out.add("kiln_mean_value", "", "Objective value of the mean energy of the current states.",
            p.mean);
  }
  if (has.contains("acceptance_rate")) {
    out.add("kiln_acceptance_ratio", "ratio", "Accepted share of the attempted moves.",
            p.acceptance_rate);
  }
  if (has.contains("beta") && std::isfinite(p.beta)) {
    out.add("kiln_inverse_temperature", "", "Inverse temperature of the first rung.", p.beta);
  }
  out.add("kiln_nonfinite_energies", "", "Trial energies that were NaN or infinite.",
          static_cast<double>(reading.nonfinite));
}

}  // namespace

std::string metrics_text(const MetricLabels& labels, const MetricReading& reading) {
  MetricWriter out(labels);
  const bool active = reading.stop.empty();
  out.add("kiln_run_active", "", "1 while the run goes on, 0 after its end.", active ? 1 : 0);
  out.family("kiln_build", "", "Version of Kiln, a constant 1.");
  out.sample(1, "version", version());
  add_progress(out, reading);
  add_values(out, reading);
  if (!reading.point.notes.empty()) {
    out.family("kiln_schedule_note", "", "Further numbers from the schedule, by name.");
    for (const auto& [name, value] : reading.point.notes) out.sample(value, "name", name);
  }
  out.family("kiln_alert_active", "", "1 while the alert is raised, else 0.");
  for (const AlertCode code : all_alert_codes) {
    out.sample(reading.alerts.contains(code) ? 1 : 0, "code", to_string(code));
  }
  if (!active) {
    out.family("kiln_run_stop", "", "Reason of the end of the run, a constant 1.");
    out.sample(1, "reason", reading.stop);
  }
  return out.text();
}

bool is_metrics_text(std::string_view text) { return text.starts_with(beginning); }

MetricsFile::MetricsFile(std::string path, MetricLabels labels)
    : path_(std::move(path)), labels_(std::move(labels)) {}

bool MetricsFile::is_due() const {
  return !written_ || std::chrono::steady_clock::now() - *written_ >= between_writes;
}

std::string MetricsFile::write(const MetricReading& reading) {
  written_ = std::chrono::steady_clock::now();
  try {
    replace_file(path_, metrics_text(labels_, reading));
    failing_ = false;
    return {};
  } catch (const Error& error) {
    if (std::exchange(failing_, true)) return {};
    return fmt::format("warning[metrics.write]: {}\n  the run goes on without metrics\n  fix: {}",
                       error.message(), error.fix());
  }
}

}  // namespace kiln::cli
