// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/run_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>  // flock
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/problems/csv.hpp"

#include "cli/document_file.hpp"
#include "errors.hpp"
#include "front/svg_canvas.hpp"
#include "output/text.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t max_log_bytes = std::size_t{256} << 20;
// Names stand in every tip of a chart.
constexpr double max_name_pixels = 300;
constexpr std::size_t max_line_bytes = std::size_t{1} << 20;
constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

const DocumentKind run_document{"run.json", "kiln.run/2", "kiln.run/1",
                                "a run folder, which kiln solve or kiln sample wrote with -o",
                                std::size_t{16} << 20};
const DocumentKind result_document{"result.json", "kiln.result/2", "kiln.result/1",
                                   "the result of kiln solve or kiln sample",
                                   std::size_t{256} << 20};

/// The text of a file in a run folder; nothing if there is none. Pipes and devices are not read.
std::optional<std::string> text_of(const fs::path& path, std::vector<std::string>& notes) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  const std::string name = clean(path.filename().string());
  try {
    std::ifstream in = open_input(path.string());
    return read_all(in, name, max_log_bytes);
  } catch (const Error& failure) {
    notes.push_back(fmt::format("{} was left out: {}", name, clean(failure.message())));
    return std::nullopt;
  }
}

/// Hands out the complete lines of a text, and says why it stopped before the end.
class LogLines {
 public:
  LogLines(std::string name, std::string_view text) : name_(std::move(name)), rest_(text) {}

  bool next(std::string_view& line) {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos || end > max_line_bytes) return false;
    line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++number_;
    return true;
  }
  std::string refusal() const {
    return fmt::format("{}: line {} is damaged; the report shows the lines before it", name_,
                       number_);
  }

 private:
  std::string name_;
  std::string_view rest_;
  std::int64_t number_ = 0;
};

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (;;) {
    const std::size_t end = line.find(',');
    cells.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

std::optional<double> cell_value(std::string_view cell) {
  return cell.empty() ? missing_value : number_in(cell);
}

using TraceColumn = std::pair<std::string_view, double TraceRow::*>;
constexpr TraceColumn trace_columns[] = {
    {"time_s", &TraceRow::time_s},     {"sweeps", &TraceRow::sweeps},
    {"attempts", &TraceRow::attempts}, {"best", &TraceRow::best},
    {"mean", &TraceRow::mean},         {"acceptance_rate", &TraceRow::acceptance_rate},
    {"beta", &TraceRow::beta},         {"attempts_per_ns", &TraceRow::attempts_per_ns}};

/// The columns of a header that the report shows; nothing without a time.
std::vector<double TraceRow::*> columns_of(std::string_view header) {
  std::vector<double TraceRow::*> columns;
  for (const std::string_view name : cells_of(header)) {
    const auto* const known = std::ranges::find(trace_columns, name, &TraceColumn::first);
    columns.push_back(known == std::end(trace_columns) ? nullptr : known->second);
  }
  const bool timed = std::ranges::find(columns, &TraceRow::time_s) != columns.end();
  return timed ? columns : std::vector<double TraceRow::*>{};
}

std::optional<TraceRow> row_of(std::string_view line,
                               const std::vector<double TraceRow::*>& columns) {
  const std::vector<std::string_view> cells = cells_of(line);
  if (cells.size() != columns.size()) return std::nullopt;
  TraceRow row{.best = missing_value, .mean = missing_value, .acceptance_rate = missing_value};
  row.beta = row.attempts_per_ns = missing_value;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::optional<double> value = cell_value(cells[i]);
    if (!value) return std::nullopt;
    if (columns[i] != nullptr) row.*columns[i] = *value;
  }
  const bool counted = std::isfinite(row.time_s) && row.time_s >= 0 && std::isfinite(row.sweeps);
  return counted ? std::optional(row) : std::nullopt;
}

void read_trace(const fs::path& folder, RunFiles& files) {
  const std::optional<std::string> text = text_of(folder / "trace.csv", files.notes);
  if (!text) return;
  LogLines lines("trace.csv", *text);
  std::string_view line;
  if (!lines.next(line)) return;
  const std::vector<double TraceRow::*> columns = columns_of(line);
  if (columns.empty()) {
    files.notes.emplace_back("trace.csv was left out: its first line has no column time_s");
    return;
  }
  while (lines.next(line)) {
    const std::optional<TraceRow> row = row_of(line, columns);
    if (!row || (!files.trace.empty() && row->time_s < files.trace.back().time_s)) {
      files.notes.push_back(lines.refusal());
      return;
    }
    files.trace.push_back(*row);
  }
}

/// The objects of a file with one JSON object per line.
std::vector<Json> objects_of(const fs::path& path, std::vector<std::string>& notes) {
  std::vector<Json> objects;
  const std::optional<std::string> text = text_of(path, notes);
  if (!text) return objects;
  LogLines lines(clean(path.filename().string()), *text);
  std::string_view line;
  while (lines.next(line)) {
    Json object = Json::parse(line, nullptr, false);
    if (!object.is_object()) {
      notes.push_back(lines.refusal());
      break;
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

void read_incumbents(const fs::path& folder, RunFiles& files) {
  for (const Json& one : objects_of(folder / "incumbents.ndjson", files.notes)) {
    const auto time = number_at(one, {"time_s"}), value = number_at(one, {"value"});
    if (!time || !value || *time < 0) {
      files.notes.emplace_back(
          "incumbents.ndjson: a line has no time or value; the report shows the lines before it");
      break;
    }
    files.incumbents.push_back({*time, number_at(one, {"sweeps"}).value_or(missing_value), *value});
  }
  if (!files.incumbents.empty()) return;
  for (const TraceRow& row : files.trace) {
    const bool better = files.incumbents.empty() || row.best != files.incumbents.back().value;
    if (std::isfinite(row.best) && better) {
      files.incumbents.push_back({row.time_s, row.sweeps, row.best});
    }
  }
}

/// Nothing for a table without a column `value`, which several objectives have not.
std::optional<EvaluationRows> evaluation_rows(const problems::CsvTable& table) {
  const std::vector<std::string>& names = table.header.cells;
  // A variable may have the same name, and comes before.
  const auto last = std::find(names.rbegin(), names.rend(), "value");
  const auto end = static_cast<std::size_t>(names.rend() - last) - 1;
  if (last == names.rend() || end < 2 || table.rows.empty()) return std::nullopt;
  const auto column = [&](std::size_t at) {
    std::vector<double> numbers;
    for (const auto& row : table.rows) {
      numbers.push_back(cell_value(row.cells[at]).value_or(missing_value));
    }
    return numbers;
  };
  EvaluationRows rows;
  for (std::size_t at = 2; at < end; ++at) {
    rows.names.push_back(shortened(names[at], 12, max_name_pixels));
    rows.variables.push_back(column(at));
  }
  rows.study = column(0);
  rows.value = column(end);
  if (names.back() == "best") rows.best = column(names.size() - 1);
  return rows;
}

void read_evaluations(const fs::path& folder, RunFiles& files) {
  std::optional<std::string> text = text_of(folder / "evaluations.csv", files.notes);
  if (!text) return;
  text->resize(text->rfind('\n') + 1);  // a run that goes on, or was killed, ends within a line
  try {
    const problems::CsvTable table = problems::read_csv(*text, "evaluations.csv");
    if (table.header.cells.size() > 2 && table.header.cells[0] == "study") {
      files.evaluations = evaluation_rows(table);
    }
  } catch (const Error& error) {
    files.notes.push_back(fmt::format("evaluations.csv was left out: {}", clean(error.message())));
  }
}

void read_draws(const fs::path& folder, RunFiles& files) {
  const Json& summary = member_at(files.result, {"summary"});
  const fs::path path = folder / "draws.npy";
  std::error_code ignored;
  if (!summary.is_array() || !fs::is_regular_file(path, ignored)) return;
  std::vector<std::string> names;
  for (const Json& one : summary)
    names.push_back(shortened(text_at(one, {"name"}).value_or("?"), 12, max_name_pixels));
  std::string why;
  files.draws = read_draws_file(path, names, why);
  if (!why.empty()) files.notes.push_back("draws.npy was left out: " + why);
}

void read_telemetry(const fs::path& folder, RunFiles& files) {
  const std::optional<std::string> bytes = text_of(folder / "telemetry.bin", files.notes);
  if (!bytes) return;
  try {
    files.telemetry.emplace(*bytes, "telemetry.bin");
  } catch (const Error& error) {
    files.notes.push_back("telemetry.bin was left out: " + clean(error.message()));
  }
}

}  // namespace

const Json& member_at(const Json& json, const std::vector<const char*>& path) {
  static const Json nothing;
  const Json* at = &json;
  for (const char* const name : path) {
    if (!at->is_object()) return nothing;
    const auto found = at->find(name);
    if (found == at->end()) return nothing;
    at = &*found;
  }
  return *at;
}

std::optional<double> number_at(const Json& json, const std::vector<const char*>& path) {
  const Json& found = member_at(json, path);
  if (!found.is_number()) return std::nullopt;
  const double value = found.get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::string> text_at(const Json& json, const std::vector<const char*>& path) {
  const Json& found = member_at(json, path);
  return found.is_string() ? std::optional(clean(found.get<std::string>())) : std::nullopt;
}

bool is_under_way(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return held;
}

RunFiles read_run_files(const std::string& folder, ReadDraws draws) {
  RunFiles files;
  files.folder = clean(folder);
  const fs::path path(folder);
  files.run = read_document((path / run_document.file).string(), run_document).json;
  std::error_code ignored;
  if (fs::exists(path / result_document.file, ignored)) {
    files.result = read_document((path / result_document.file).string(), result_document).json;
  }
  files.under_way = is_under_way(folder);
  read_trace(path, files);
  files.events = objects_of(path / "events.ndjson", files.notes);
  read_incumbents(path, files);
  read_evaluations(path, files);
  if (draws == ReadDraws::no) return files;
  read_draws(path, files);
  read_telemetry(path, files);
  return files;
}

}  // namespace kiln::cli
