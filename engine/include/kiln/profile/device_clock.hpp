// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// Marks positions in the order of a queue and tells when the work reached them. Marking enqueues
/// no kernel, allocates no device memory and waits for nothing.
///
/// Marks are numbered from 0 and kept until forget().
class KILN_API DeviceClock {
 public:
  DeviceClock() = default;
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  virtual ~DeviceClock();
  /// Marks the end of the work that is enqueued now. @throws CudaError
  virtual std::size_t mark() = 0;
  /// Whether the work has passed a mark. Does not wait. @throws CudaError
  virtual bool passed(std::size_t mark) = 0;
  /// Seconds between two marks that have been passed. @throws CudaError
  virtual double seconds(std::size_t from, std::size_t to) = 0;
  /// Forgets the marks before `first`; those that remain keep their numbers.
  virtual void forget_before(std::size_t first) = 0;
  /// Seconds that lie between two marks without work between them.
  virtual double mark_s() = 0;
};

/// The clock of a device whose work is done when a call returns: the steady clock.
class KILN_API HostClock final : public DeviceClock {
 public:
  std::size_t mark() override;
  bool passed(std::size_t) override { return true; }
  double seconds(std::size_t from, std::size_t to) override;
  void forget_before(std::size_t first) override;
  double mark_s() override { return 0; }

 private:
  std::size_t first_ = 0;  // number of times_[0]
  std::vector<double> times_;
};

}  // namespace kiln
