// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "kiln/tuning/tune_file.hpp"

namespace kiln::cli {

/// The build of Kiln that made an outcome.
enum class TuneBuild : std::uint8_t {
  here,     ///< this one
  other,    ///< another one: this build has the tunable with another hash
  unknown,  ///< this process does not have the tunable
};

/// The build of an outcome under a header, by the tunables that are registered.
TuneBuild build_of(const TuneHeader& header, const TuneOutcome& outcome);
using BuildOfOutcome = TuneBuild (*)(const TuneHeader& header, const TuneOutcome& outcome);

/// The last outcomes of a device under one driver and toolkit.
struct TuneReport {
  TuneHeader device;
  std::filesystem::path file;
  std::vector<TuneOutcome> outcomes;  ///< by tunable and bucket
  std::set<std::string> unknown;      ///< tunables that this process does not have
  std::int64_t of_other_builds = 0;   ///< outcomes that are left out
};

/// The reports of the text of a file: one for each key of a device, in the order of the file. A key
/// without a header is an unknown device.
/// @param file  of the records
/// @param records  of the file
/// @param build  decides which outcomes are left out; null: none
std::vector<TuneReport> reports_of(const std::filesystem::path& file, const TuneRecords& records,
                                   BuildOfOutcome build = nullptr);

/// Of 80 columns at most: a block for each tunable, a row for each bucket. Refused are shapes that
/// were wrong or failed. A row whose texts are too long goes on in the next line.
std::string table_of(const TuneReport& report);

nlohmann::ordered_json json_of(const TuneReport& report);

/// "10..31", "31k..99k", "1M..3M".
std::string short_bucket(int bucket);

}  // namespace kiln::cli
