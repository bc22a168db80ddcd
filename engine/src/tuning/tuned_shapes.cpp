// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/tuning/tuned_shapes.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/tuning/tune_file.hpp"

namespace kiln {
namespace {

/// What is open: devices of the same model share a file, but not what launches have used.
struct OpenShapes {
  std::string label;
  int units = 1;
  std::weak_ptr<const TunedShapes> shapes;
  TuneRemedy remedy;
};

struct AllOpen {
  std::mutex mutex;
  std::vector<OpenShapes> list;
};

AllOpen& all_open() {
  static AllOpen all;
  return all;
}

const OpenShapes* find_open(const AllOpen& all, const std::string& label, int units) {
  for (const OpenShapes& one : all.list) {
    if (one.label == label && one.units == units && !one.shapes.expired()) return &one;
  }
  return nullptr;
}

UsableChoices read_choices(const TuneDevice& device, TuneRemedy& remedy) {
  UsableChoices usable;
  try {
    const auto file = tune_file(device);
    const std::string text = file.empty() ? "" : read_tune_text(file);
    usable = usable_choices(read_tune_records(text), device, tunables(device.limits.gpu));
    if (!usable.complaint.empty()) usable.complaint = file.string() + ": " + usable.complaint;
  } catch (const Error& error) {
    usable = {{}, error.message()};
    if (error.code() != "tune.large") remedy.fix = error.fix();
  } catch (const std::exception& error) {
    usable = {{}, error.what()};
  }
  return usable;
}

std::shared_ptr<const TunedShapes> read_shapes(TuneDevice device, TuneRemedy& remedy) {
  const char* const set = std::getenv("KILN_TUNE");
  const std::string_view wish = set != nullptr ? set : "on";
  UsableChoices usable;
  if (wish != "off") usable = read_choices(device, remedy);
  // Whoever wrote it wanted something else than what happens, which matters more than the file.
  if (wish != "on" && wish != "off" && !wish.empty()) {
    usable.complaint = "KILN_TUNE is '" + std::string(wish) + "', and only on and off are allowed";
    remedy = {"tune.switch", "KILN_TUNE=off"};
  }
  return std::make_shared<const TunedShapes>(std::move(device), usable.choices, usable.complaint);
}

}  // namespace

TunedShapes::TunedShapes(TuneDevice device, const std::vector<Choice>& choices,
                         std::string complaint)
    : device_(std::move(device)), complaint_(std::move(complaint)) {
  for (const Choice& one : choices) {
    const std::size_t id = one.tunable->id();
    if (id >= rows_.size()) {
      rows_.resize(id + 1);
      tunables_.resize(id + 1);
    }
    rows_[id].push_back({one.bucket, one.shape});
    tunables_[id] = one.tunable;
  }
}

TunedShapes::~TunedShapes() = default;

const LaunchShape* TunedShapes::find_in_row(std::size_t id, std::int64_t size) const noexcept {
  const int bucket = size_bucket(size);
  for (const Entry& one : rows_[id]) {
    if (one.bucket == bucket) return &one.shape;
  }
  return nullptr;
}

const LaunchShape* TunedShapes::find_in_trial(const ShapeTrial& trial, const Tunable& tunable,
                                              std::int64_t size) noexcept {
  if (trial.tunable_ != &tunable) return nullptr;
  const int bucket = size_bucket(size);
  ++trial.launches_;
  trial.buckets_.insert(bucket);
  if (!trial.shape_ || (trial.bucket_ >= 0 && trial.bucket_ != bucket)) return nullptr;
  return &*trial.shape_;
}

void TunedShapes::decline(const Tunable& tunable) const noexcept {
  const ShapeTrial* const trial = trial_.load(std::memory_order_relaxed);
  if (trial != nullptr && trial->tunable_ == &tunable) ++trial->declined_;
}

std::vector<TunedShapes::Choice> TunedShapes::choices() const {
  std::vector<Choice> all;
  for (std::size_t id = 0; id < rows_.size(); ++id) {
    for (const Entry& one : rows_[id]) all.push_back({tunables_[id], one.bucket, one.shape});
  }
  return all;
}

ShapeTrial::ShapeTrial(const TunedShapes& shapes, const Tunable* tunable, int bucket,
                       std::optional<LaunchShape> shape)
    : shapes_(shapes),
      before_(shapes.trial_.load(std::memory_order_relaxed)),
      tunable_(tunable),
      bucket_(bucket),
      shape_(shape) {
  shapes_.trial_.store(this, std::memory_order_relaxed);
}

ShapeTrial::~ShapeTrial() { shapes_.trial_.store(before_, std::memory_order_relaxed); }

std::shared_ptr<const TunedShapes> open_tuned_shapes(const std::string& label, TuneDevice device) {
  AllOpen& all = all_open();
  const std::lock_guard lock(all.mutex);
  const int units = device.limits.parallel_units;
  if (const OpenShapes* const open = find_open(all, label, units)) {
    if (auto shapes = open->shapes.lock()) return shapes;
  }
  std::erase_if(all.list, [](const OpenShapes& one) { return one.shapes.expired(); });
  TuneRemedy remedy;
  const std::shared_ptr<const TunedShapes> shapes = read_shapes(std::move(device), remedy);
  all.list.push_back({label, units, shapes, std::move(remedy)});
  return shapes;
}

std::shared_ptr<const TunedShapes> tuned_shapes_of(const DeviceInfo& device) {
  AllOpen& all = all_open();
  const std::lock_guard lock(all.mutex);
  const OpenShapes* const open = find_open(all, device.name, device.parallel_units);
  return open != nullptr ? open->shapes.lock() : nullptr;
}

TuneRemedy tune_remedy(const DeviceInfo& device) {
  AllOpen& all = all_open();
  const std::lock_guard lock(all.mutex);
  const OpenShapes* const open = find_open(all, device.name, device.parallel_units);
  return open != nullptr ? open->remedy : TuneRemedy{};
}

}  // namespace kiln
