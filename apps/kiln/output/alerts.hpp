// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kiln::cli {

/// What an alert is about. The names are those of events.ndjson.
enum class AlertCode : std::uint8_t {
  memory,
  acceptance,
  non_finite,
  swap_rate,
  throttled,
  overrun,
  host_busy,
};
inline constexpr std::array all_alert_codes{
    AlertCode::memory,    AlertCode::acceptance, AlertCode::non_finite, AlertCode::swap_rate,
    AlertCode::throttled, AlertCode::overrun,    AlertCode::host_busy};

/// "memory", "non_finite", ...
const char* to_string(AlertCode) noexcept;

/// A condition of a run that its user can change.
struct Alert {
  AlertCode code;
  std::string message;  ///< one sentence without a full stop: the reading
  std::string fix;      ///< what to do
};

/// "warning[alert.memory]: MESSAGE" and a line with the fix.
std::string alert_text(const Alert& alert);

// The rules: pure functions of readings. Each returns an alert, or nothing where the reading is
// healthy. `active`: the alert is raised already, and ends only well inside the healthy range.

/// Memory of one device or of the host.
struct MemoryReading {
  std::string owner;  ///< "cuda:0", "the host"
  std::uint64_t used_bytes = 0;
  std::uint64_t total_bytes = 0;  ///< 0: not known
};
/// Above 85 % in use.
std::optional<Alert> memory_alert(const MemoryReading& reading, bool active);

/// Trial energies of a window.
struct TrialReading {
  std::uint64_t nonfinite = 0;
  double trials = 0;
};
/// More than 10 % of at least 100 trials were NaN or infinite.
std::optional<Alert> nonfinite_alert(const TrialReading& reading, bool active);

/// How the acceptance rate of a schedule is judged.
enum class AcceptanceKind : std::uint8_t {
  unjudged,  ///< no healthy range: populations, enumerations, model-based searches
  anneal,    ///< hot at beta_min, frozen at beta_max: only the two ends are judged
  ladder,    ///< mean of all rungs, of which the cold ones may be frozen
  chains,    ///< share of transitions that move their chain, after warmup
};

/// The acceptance of a window, and where in its schedule the window lies.
struct AcceptanceReading {
  double rate = 0;      ///< accepted share of attempts (chains: moved share of transitions)
  double attempts = 0;  ///< in the window (chains: transitions)
  double beta_begin = 0, beta_end = 0;  ///< at the two ends of the window
  double sweeps = 0;                    ///< in the window
};

/// What the parameters of a schedule say about its acceptance.
struct AcceptancePlan {
  AcceptanceKind kind = AcceptanceKind::unjudged;
  double beta_min = 0, beta_max = 0;  ///< of an anneal; 0: not known
  double anneal_sweeps = 0;           ///< of its shortest round
  double rungs = 1;                   ///< of a ladder, walkers included
  double warmup = 0;                  ///< transitions of a sampler before its draws
  bool given_states = false;          ///< a cold start is deliberate
};

/// @param parameters  of the schedule, resolved
AcceptancePlan acceptance_plan(const std::string& schedule,
                               const std::map<std::string, std::string>& parameters,
                               bool given_states);

/// The end of an anneal where a window lies: in windows that are far shorter than a round.
enum class AnnealEnd : std::uint8_t { none, hot, cold };
AnnealEnd anneal_end(const AcceptancePlan& plan, const AcceptanceReading& reading);

/// Whether a window tells anything about a schedule: an anneal is judged at its two ends only.
bool is_judged(const AcceptancePlan& plan, const AcceptanceReading& reading);

/// Outside [0.05, 0.95] where that is unhealthy: an anneal that begins frozen or ends fluid, a
/// ladder whose hottest rung is frozen or whose coldest rung is fluid, chains that do not move.
/// @pre is_judged()
std::optional<Alert> acceptance_alert(const AcceptancePlan& plan, const AcceptanceReading& reading,
                                      bool active);

/// Neighbouring rungs that accept less than 10 % of their exchanges.
/// @param acceptance  of each gap of the ladder, from the hot end on; NaN: none was attempted
std::optional<Alert> swap_alert(const std::vector<double>& acceptance, bool active);

/// Why a device is slowed down, as its sensors say: "heat", "power brake", "power", ...
struct SlowdownReadings {
  std::vector<std::string> throttled;
};
/// The device runs below its clocks for a reason that can be mended. A device at its power limit
/// ("power") works as designed, and one without work ("idle") is not slowed down.
std::optional<Alert> throttle_alert(const SlowdownReadings& reading);

/// Records that telemetry has lost since the last reading.
struct TelemetryReadings {
  std::uint64_t lost_records = 0;
};
std::optional<Alert> overrun_alert(const TelemetryReadings& reading);

/// Processor time of all threads of the process in a window.
struct HostReading {
  double wall_s = 0;
  double running_s = 0;  ///< on a processor
  double waiting_s = 0;  ///< ready to run, without a processor
  int threads = 1;
};
/// Threads were ready to run, and waited for a processor for more than a quarter of that time:
/// other programs, or other threads of this one, have it. Idle threads do not count.
std::optional<Alert> host_alert(const HostReading& reading, bool active);

/// An alert that is raised or has ended.
struct AlertChange {
  Alert alert;
  bool raised = true;
};

/// The alerts that are raised now: each is raised once, until a reading clears it.
class AlertLedger {
 public:
  bool is_active(AlertCode code) const { return active_.contains(code); }
  const std::map<AlertCode, Alert>& active() const { return active_; }
  /// Records the verdict on a new reading, and returns what it changes.
  std::optional<AlertChange> judge(AlertCode code, const std::optional<Alert>& verdict);

 private:
  std::map<AlertCode, Alert> active_;
};

}  // namespace kiln::cli
