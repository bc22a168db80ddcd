// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run puts into an archive, and how it takes it from one.
#include "kiln/archive.hpp"

#include "run_parts.hpp"
#include "run_scratch.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {

void RunCore::save(Archive& archive) const {
  require_whole();
  if (progress_->pending > 0) queue_->wait();
  archive.put("run.control", control_);
  archive.put_value("run.draw_naming", draw_naming_);
  archive.put_value("run.replicas", batch_->replicas());
  earlier_.save(archive);
  if (origin_.size() > 0) archive.put("run.stage.origin", origin_);
  batch_->save(archive);
  objective_->save(archive);
  scratch_->save(archive);
  if (telemetry_) telemetry_->save(archive);
  schedule_.save(archive);
}

void RunCore::load(const Archive& archive) {
  require_replicas(archive, batch_->replicas());
  while (progress_->pending > 0) wait_summary();  // an observer threw before they were read
  go_back(archive);
  loaded_ = true;
  post_summary();
  const RunSummary now = wait_summary();
  Progress& p = *progress_;
  p.looks = {{now.control.step, p.run_s}};
  p.reported_step = now.control.step;
  p.reported_accepted = now.accepted;
  p.reported_nonfinite = now.not_finite;
  p.best_key = p.reported_best_key = now.control.best_key;
  p.best_step = now.control.step;
}

void RunCore::go_back(const Archive& archive) {
  progress_->whole = false;  // an archive that does not fit may be refused halfway
  archive.restore("run.control", control_);
  if (origin_.size() > 0) archive.restore("run.stage.origin", origin_);
  batch_->load(archive);
  objective_->load(archive);
  scratch_->load(archive);
  if (telemetry_) telemetry_->load(archive);
  schedule_.load(archive);
  progress_->whole = true;
}

}  // namespace kiln
