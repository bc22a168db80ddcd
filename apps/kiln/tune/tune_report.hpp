// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kiln/tuning/tune_file.hpp"

namespace kiln::cli {

/// The last outcomes of a device under one driver and toolkit.
struct TuneReport {
  TuneHeader device;
  std::filesystem::path file;
  std::vector<TuneOutcome> outcomes;  ///< by tunable and bucket
};

/// The reports of the text of a file: one for each header, in the order of the file.
std::vector<TuneReport> reports_of(const std::filesystem::path& file, const TuneRecords& records);

/// Of 80 columns at most: a block for each tunable, a row for each bucket. Refused are shapes that
/// were wrong or failed.
std::string table_of(const TuneReport& report);

nlohmann::ordered_json json_of(const TuneReport& report);

/// "10..31", "31k..99k", "1M..3M".
std::string short_bucket(int bucket);

}  // namespace kiln::cli
