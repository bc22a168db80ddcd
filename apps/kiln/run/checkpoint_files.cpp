// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/checkpoint_files.hpp"

#include <algorithm>

namespace kiln::cli {
namespace {

constexpr double times_its_cost = 200;  // half a percent
constexpr double expensive_s = 0.5;

}  // namespace

CheckpointFiles::CheckpointFiles(RunFolder& folder, double every_s, bool expensive)
    : folder_(folder),
      every_s_(every_s),
      shortest_s_(expensive ? std::min(every_s, expensive_s) : every_s),
      interval_s_(shortest_s_) {}

bool CheckpointFiles::due(double time_s) const {
  return wanted() && time_s - newest_s_ >= interval_s_;
}

std::optional<CheckpointSize> CheckpointFiles::write(Run& run, const CheckpointNotes& notes) {
  try {
    const CheckpointSize size = write_checkpoint(folder_.place_of(checkpoint_name), run, notes);
    folder_.list(checkpoint_name);
    error_ = nullptr;
    return size;
  } catch (const std::exception&) {
    error_ = std::current_exception();
    return std::nullopt;
  }
}

void CheckpointFiles::begin_last(Run& run) {
  try {
    last_.emplace(folder_.place_of(checkpoint_name), run);
    error_ = nullptr;
  } catch (const std::exception&) {
    error_ = std::current_exception();
  }
}

void CheckpointFiles::finish_last(const CheckpointNotes& notes) {
  if (!last_) return;
  try {
    static_cast<void>(folder_.place_of(checkpoint_name));  // it may be another run's by now
    last_->put_in_place(notes);
    folder_.list(checkpoint_name);
  } catch (const std::exception&) {
    error_ = std::current_exception();
  }
  last_.reset();
}

bool CheckpointFiles::drop_last() noexcept {
  const bool had_one = last_.has_value();
  last_.reset();
  return had_one;
}

void CheckpointFiles::spent(double time_s, double seconds) {
  newest_s_ = time_s;
  interval_s_ = std::max(shortest_s_, times_its_cost * seconds);
}

}  // namespace kiln::cli
