// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"

namespace kiln {

/// Shows ranges of host time to a profiler outside the program: NVTX ranges on CUDA.
class KILN_API Tracer {
 public:
  virtual ~Tracer();
  /// Begins a range within the last one of this thread that has not ended.
  virtual void begin(const char* name) noexcept = 0;
  virtual void end() noexcept = 0;
};

/// A range as long as it lives. Without a tracer it does nothing.
class TraceRange {
 public:
  TraceRange(Tracer* tracer, const char* name) noexcept : tracer_(tracer) {
    if (tracer_ != nullptr) tracer_->begin(name);
  }
  ~TraceRange() {
    if (tracer_ != nullptr) tracer_->end();
  }
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;

 private:
  Tracer* tracer_;
};

}  // namespace kiln
