// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/tuning/tunable.hpp"

namespace kiln {

struct DeviceInfo;

/// Identifies a device to the file of its tuned shapes.
struct TuneDevice {
  std::string name;     ///< model: "NVIDIA H200"; of a CPU with the number of threads
  std::string driver;   ///< release of the driver; empty for a CPU
  std::string toolkit;  ///< CUDA toolkit of the build; empty for a CPU
  ShapeLimits limits;
};

class ShapeTrial;

/// The launch shapes that were tuned for one device. Launchers ask it for each launch: without a
/// lock, and without an allocation.
class KILN_API TunedShapes {
 public:
  struct Choice {
    const Tunable* tunable = nullptr;
    int bucket = 0;
    LaunchShape shape{};
  };

  /// @param device  whose shapes they are
  /// @param choices  one for each tunable and bucket; those of other sizes have the default
  /// @param complaint  why choices of the file were left out; "" if none were
  TunedShapes(TuneDevice device, const std::vector<Choice>& choices, std::string complaint = {});
  ~TunedShapes();
  TunedShapes(const TunedShapes&) = delete;
  TunedShapes& operator=(const TunedShapes&) = delete;

  /// The tuned shape for a launch of this size; null: the launcher uses its default.
  const LaunchShape* find(const Tunable& tunable, std::int64_t size) const noexcept {
    const ShapeTrial* const trial = trial_.load(std::memory_order_relaxed);
    if (trial != nullptr) [[unlikely]]
      return find_in_trial(*trial, tunable, size);
    const std::size_t id = tunable.id();
    if (id >= rows_.size() || rows_[id].empty()) return nullptr;
    return find_in_row(id, size);
  }
  /// Called by a launcher that cannot use the shape of find() for its arguments, and uses the
  /// default.
  void decline(const Tunable& tunable) const noexcept;

  const TuneDevice& device() const noexcept { return device_; }
  /// All choices, by tunable and bucket.
  std::vector<Choice> choices() const;
  const std::string& complaint() const noexcept { return complaint_; }

 private:
  friend class ShapeTrial;
  struct Entry {
    int bucket = 0;
    LaunchShape shape{};
  };

  const LaunchShape* find_in_row(std::size_t id, std::int64_t size) const noexcept;
  static const LaunchShape* find_in_trial(const ShapeTrial& trial, const Tunable& tunable,
                                          std::int64_t size) noexcept;

  TuneDevice device_;
  std::vector<std::vector<Entry>> rows_;  // by id of the tunable
  std::vector<const Tunable*> tunables_;  // by id
  std::string complaint_;
  mutable std::atomic<const ShapeTrial*> trial_{nullptr};
};

/// While it lives, one tunable of a device has a given shape, and all others have their defaults.
/// For `kiln tune`: on the thread that launches. A later trial hides an earlier one until it ends.
class KILN_API ShapeTrial {
 public:
  /// @param shapes  of the device; outlives this
  /// @param tunable  null: all tunables have their defaults
  /// @param bucket  whose launches have the shape; -1: of all sizes
  /// @param shape  none: the default, so that only launches are counted
  ShapeTrial(const TunedShapes& shapes, const Tunable* tunable, int bucket = -1,
             std::optional<LaunchShape> shape = std::nullopt);
  ~ShapeTrial();
  ShapeTrial(const ShapeTrial&) = delete;
  ShapeTrial& operator=(const ShapeTrial&) = delete;

  /// Launches that asked for the tunable, and those that could not use the shape.
  std::int64_t launches() const noexcept { return launches_; }
  std::int64_t declined() const noexcept { return declined_; }
  /// Buckets of the launches that asked.
  const std::set<int>& buckets() const noexcept { return buckets_; }

 private:
  friend class TunedShapes;
  const TunedShapes& shapes_;
  const ShapeTrial* const before_;
  const Tunable* const tunable_;
  const int bucket_;
  const std::optional<LaunchShape> shape_;
  mutable std::int64_t launches_ = 0, declined_ = 0;
  mutable std::set<int> buckets_;
};

/// Reads the tuned shapes of a device from the cache of the user, for a backend that opens it.
/// Backends of the same device share them while one lives. Never throws because of the file: what
/// cannot be used is left out, and complaint() says so. KILN_TUNE=off leaves out all.
/// @param label  DeviceInfo::name
/// @param device  what its file and its limits follow from
KILN_API std::shared_ptr<const TunedShapes> open_tuned_shapes(const std::string& label,
                                                              TuneDevice device);
/// Those of a device that is open; null if none is.
KILN_API std::shared_ptr<const TunedShapes> tuned_shapes_of(const DeviceInfo& device);

}  // namespace kiln
