// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run tells a checkpoint beside its arrays, and what it asks of one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kiln/checkpoint.hpp"
#include "kiln/version.hpp"

#include "run_parts.hpp"

namespace kiln {

std::vector<std::pair<std::string, std::string>> RunCore::identity() const {
  std::vector<std::pair<std::string, std::string>> fields{
      {"kiln", version()},
      {"problem", problem_.identity.name},
      {"problem.family", problem_.identity.family},
      {"problem.variables", std::to_string(batch_->space().variables())}};
  for (const auto& [name, value] : problem_.identity.sizes) {
    fields.emplace_back("problem." + name, value);
  }
  if (!problem_.identity.fingerprint.empty()) {
    fields.emplace_back("problem.fingerprint", problem_.identity.fingerprint);
  }
  if (earlier_.stages > 0) {
    fields.emplace_back("stage", stage_text());
    fields.emplace_back("sweeps of earlier stages", std::to_string(earlier_.sweeps));
  }
  fields.emplace_back("schedule", schedule_.name());
  for (const auto& [name, value] : schedule_.parameters()) fields.emplace_back("-p " + name, value);
  fields.emplace_back("replicas", std::to_string(batch_->replicas()));
  fields.emplace_back("seed", std::to_string(options_.seed));
  fields.emplace_back("draws", to_string(draw_naming_));
  const auto planned = [](const auto& limit) {
    return limit ? fmt::format("{}", *limit) : std::string("none");
  };
  fields.emplace_back("planned sweeps", planned(budget_.sweeps));
  fields.emplace_back("planned time in seconds", planned(budget_.time_limit_s));
  return fields;
}

RunCore::Standing RunCore::standing() const {
  Standing now;
  now.run_s = progress_->run_s;
  now.to_best_s = progress_->to_best_s;
  now.ends_with_budget = ends_with_budget_;
  return now;
}

void RunCore::stand(const Standing& then) {
  Progress& p = *progress_;
  p.run_s = p.reported_s = then.run_s;
  p.to_best_s = then.to_best_s;
  for (Progress::Look& look : p.looks) look.run_s = then.run_s;
  loaded_ = !then.ends_with_budget;
}

std::uint64_t RunCore::steps() { return control_.download().front().step; }

// The names of two problems may be equal, and the sizes of their arrays. Energies are not.
void RunCore::require_energies() {
  const bool calls_host = problem_.objective->execution().pace == Pace::host;
  if (evaluates_ == nullptr || calls_host || batch_->space().outputs() > 1) return;
  DeviceArray<double> energy(*queue_, batch_->slots());
  energy.fill(0);
  evaluates_->evaluate(EvaluateArgs{*batch_, energy.view(), {}, nullptr, {}}, *queue_);
  const std::vector<double> now = energy.download(), saved = batch_->read_energies(false);
  constexpr double relative = 1e-6;  // sums in another order, on another backend
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(batch_->replicas()); ++slot) {
    const double a = now[slot], b = saved[slot];
    if (a == b || !std::isfinite(b)) continue;
    if (std::abs(a - b) <= relative * std::max({1.0, std::abs(a), std::abs(b)})) continue;
    refuse_loaded("energies of the states");
  }
}

void RunCore::refuse_loaded(const std::string& what) {
  give_up();
  throw CheckpointError("checkpoint.other_run",
                        "the " + what + " of the checkpoint are none of this run",
                        "a checkpoint of the same problem with the same data");
}

}  // namespace kiln
