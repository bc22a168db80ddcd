// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The summaries of a run, which its host reads between two chunks of ticks.
#include "kiln/kernels/run/summarize.hpp"

#include "run_core.hpp"
#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"
#include "watchdog/at_work.hpp"

namespace kiln {

void RunCore::write_summary(const SummaryTarget& target) {
  queue_->launch(Summarize{control(), batch_->energy(), batch_->accepted(), batch_->not_finite(),
                           shown_beta_, batch_->replicas(), target});
}

void RunCore::post_summary() {
  write_summary({queue_->summary_target()});
  queue_->post_summary();
  ++progress_->pending;
}

RunSummary RunCore::wait_summary() {
  const TraceRange range(tracer_, "kiln.wait");
  --progress_->pending;
  const AtWork work(!host_paced_);
  const RunSummary summary = queue_->wait_summary();
  collect_profile(nullptr);
  progress_->control = summary.control;
  progress_->last = summary;
  if (telemetry_) telemetry_->take();
  return summary;
}

}  // namespace kiln
