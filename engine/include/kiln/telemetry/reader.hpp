// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/telemetry/options.hpp"
#include "kiln/telemetry/record.hpp"

namespace kiln {

/// The bytes with which a file of records begins; the records follow as they are.
KILN_API std::string telemetry_head(const TelemetryHeader& header);

/// Reads telemetry.bin. It does not trust the file: of a file that ends within a record it gives
/// the whole records before, and it refuses everything else that a run does not write.
class KILN_API TelemetryReader {
 public:
  /// Reads a file. @throws IoError `io.read`, `telemetry.format`
  static TelemetryReader open(const std::string& path);
  /// Reads the bytes of a file; `name` is for messages. @throws IoError `telemetry.format`
  TelemetryReader(std::string_view bytes, const std::string& name);

  const TelemetryHeader& header() const noexcept { return header_; }
  const std::vector<TelemetryRecord>& records() const noexcept { return records_; }
  /// Bytes at the end that are no whole record.
  std::uint64_t torn_bytes() const noexcept { return torn_bytes_; }
  /// The epoch of a record, from 0.
  std::uint64_t epoch_of(const TelemetryRecord& record) const noexcept;
  /// Objective value of an energy.
  double value_of(double energy) const noexcept {
    return header_.value_slope * energy + header_.value_offset;
  }

 private:
  TelemetryHeader header_;
  std::vector<TelemetryRecord> records_;
  std::uint64_t torn_bytes_ = 0;
};

}  // namespace kiln
