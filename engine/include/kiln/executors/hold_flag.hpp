// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/export.hpp"

namespace kiln {

/// A word in the memory of a device by which any thread of the host holds a run at the end of its
/// current tick (DeviceStop::held), while ticks are enqueued far ahead. The queue must outlive it.
class KILN_API HoldFlag {
 public:
  virtual ~HoldFlag();
  HoldFlag(const HoldFlag&) = delete;
  HoldFlag& operator=(const HoldFlag&) = delete;

  /// On the device; not 0: hold (AdvanceTick::hold).
  const std::uint32_t* word() const noexcept { return word_; }
  /// Sets the word, from any thread, in or between ticks. Waits for nothing.
  virtual void request() noexcept = 0;
  /// Clears the word, from the thread of the queue between two ticks. Requests that have returned
  /// before are cleared, too; later ones are not. Waits. @throws CudaError
  virtual void clear() = 0;

 protected:
  HoldFlag() = default;
  const std::uint32_t* word_ = nullptr;
};

}  // namespace kiln
