// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/tuning/tuned_shapes.hpp"

// The file of the trials of `kiln tune` on one device: a JSON object a line, which is only ever
// appended to. Lines of several drivers and builds of Kiln may follow each other.
namespace kiln {

/// A shape by the names of its parameters, for whoever does not know the tunable.
using NamedShape = std::vector<std::pair<std::string, std::int32_t>>;

KILN_API NamedShape named_shape(const Tunable& tunable, const LaunchShape& shape);
/// Nothing if a parameter is missing or is none of the tunable.
KILN_API std::optional<LaunchShape> launch_shape(const Tunable& tunable, const NamedShape& shape);
/// "words=4 warps=8".
KILN_API std::string text_of(const NamedShape& shape);

/// What a trial or an outcome is about.
struct TuneSubject {
  std::string key;      ///< of the device (TuneDevice), its driver and the toolkit
  std::string tunable;  ///< its name
  std::string hash;     ///< Tunable::hash()
  int bucket = 0;       ///< of sizes
  bool operator==(const TuneSubject&) const = default;
};

enum class TrialVerdict : std::uint8_t {
  measured,
  wrong,     ///< other bits than the default
  failed,    ///< a launch ended with an error
  declined,  ///< the launcher cannot use the shape for this launch
};
KILN_API std::string_view to_string(TrialVerdict verdict) noexcept;

/// A median with its 95 % interval.
struct TuneInterval {
  double low = 0, median = 0, high = 0;
};

/// One shape that was tried: a line.
struct TuneTrial {
  TuneSubject subject;
  NamedShape shape;
  TrialVerdict verdict = TrialVerdict::measured;
  bool again = false;            ///< the best shape was measured again, to be sure
  TuneInterval seconds;          ///< of a launch
  TuneInterval default_seconds;  ///< of the default, in turns with the shape
  TuneInterval gain;             ///< default / shape, from pairs of batches
  int samples = 0;
  std::string complaint;  ///< of a trial that was not measured
};

/// The end of a search: a line.
struct TuneOutcome {
  TuneSubject subject;
  std::string workload;                ///< of the trials: "gset:G22, 4224 replicas"
  std::string default_text;            ///< "rule" or "warps=8"
  std::optional<NamedShape> chosen;    ///< none: the default stays
  TuneInterval gain;                   ///< default / shape; of the best shape if none was chosen
  std::int64_t space = 0;              ///< shapes that the device allows
  std::int64_t tried = 0;              ///< trials
  std::int64_t wrong = 0, failed = 0;  ///< of them
  std::string search;                  ///< "exhaustive" or "bayesian"
  std::string default_complaint;       ///< why nothing was tried, if so
  std::int64_t line = 0;               ///< of the file
};

/// The device of a key.
struct TuneHeader {
  std::string key, device, driver, toolkit, kiln;
};

/// The contents of a file.
struct KILN_API TuneRecords {
  std::vector<TuneHeader> headers;
  std::vector<TuneTrial> trials;
  std::vector<TuneOutcome> outcomes;
  std::int64_t bad_lines = 0, first_bad_line = 0;  ///< lines that are no record; the first, from 1
  std::uint64_t complete_bytes = 0;  ///< up to the last line feed; a half line behind is ignored

  /// The last outcome about a subject; null without one.
  const TuneOutcome* outcome_of(const TuneSubject& subject) const;
  const TuneHeader* header_of(std::string_view key) const;
};

/// 16 hexadecimal digits.
KILN_API std::string key_of(const TuneDevice& device);
/// The file of a device in the cache of the user: "tune/nvidia_h200.ndjson"; empty without a cache.
KILN_API std::filesystem::path tune_file(const TuneDevice& device);

/// A text with this many lines that are no records is not read further.
inline constexpr std::int64_t max_bad_tune_lines = 1000;

/// Reads records; never throws because of the text. Empty lines are ignored.
KILN_API TuneRecords read_tune_records(std::string_view text);
/// Whether a line without its line feed is a record.
KILN_API bool is_tune_record(std::string_view line);
/// The contents of a file, "" if it is not there. @throws IoError `tune.large` if it has more than
/// 64 MiB, `io.read` otherwise
KILN_API std::string read_tune_text(const std::filesystem::path& file);

/// "line 2 is no record", "3 lines are no records, the first is line 1"; "" if all are.
KILN_API std::string complaint_about_lines(const TuneRecords& records);

/// Lines with their line feeds.
KILN_API std::string line_of(const TuneDevice& device);
KILN_API std::string line_of(const TuneTrial& trial);
KILN_API std::string line_of(const TuneOutcome& outcome);

/// The choices that a device can use, and why others cannot be used ("" if all can).
struct UsableChoices {
  std::vector<TunedShapes::Choice> choices;
  std::string complaint;
};
KILN_API UsableChoices usable_choices(const TuneRecords& records, const TuneDevice& device,
                                      const std::vector<const Tunable*>& tunables);

/// What a user can do about TunedShapes::complaint().
struct TuneRemedy {
  std::string code = "tune.cache";  ///< of the warning
  std::string fix{};                ///< "": tune the device
};
/// The remedy for the complaint of a device that is open. It has no meaning without a complaint.
KILN_API TuneRemedy tune_remedy(const DeviceInfo& device);

}  // namespace kiln
