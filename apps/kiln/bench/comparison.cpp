// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "bench/suite.hpp"
#include "cli/document_file.hpp"
#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

const DocumentKind bench_document{"", "kiln.bench/1", "kiln.bench/1",
                                  "a document that kiln bench SUITE --json has written"};

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  refuse_document({file, {}}, bench_document, why);
}

std::string text_at(const Json& json, const char* pointer) {
  const Json::json_pointer place(pointer);
  if (!json.contains(place) || !json.at(place).is_string()) return {};
  return clean(json.at(place).get<std::string>());
}

// A driver may be renewed, and threads are compared apart.
std::string machine_of(const Json& document) {
  const std::string description = text_at(document, "/device/description");
  if (text_at(document, "/device/name") != "cpu") {
    return description.substr(0, description.find(", driver"));
  }
  const std::string processor = text_at(document, "/device/processor");
  const std::size_t comma = description.find(", ");
  const std::string vectors = comma == std::string::npos ? "" : description.substr(comma);
  return "cpu, " + (processor.empty() ? "unknown processor" : processor) + vectors;
}

bool is_gpu(const Json& document) { return text_at(document, "/device/name") != "cpu"; }

void require_same_suite(const Baseline& baseline, const Json& head) {
  const std::string before = text_at(baseline.document, "/suite"), now = text_at(head, "/suite");
  if (before == now) return;
  throw InputError(
      "compare.suite",
      fmt::format("{} is a document of suite {}, not of suite {}", baseline.file, before, now), {},
      fmt::format("kiln bench {} --compare FILE", before));
}

void require_same_device(const Baseline& baseline, const Json& head) {
  const std::string before = machine_of(baseline.document), now = machine_of(head);
  if (before == now) return;
  const std::string fix =
      is_gpu(baseline.document) != is_gpu(head)
          ? fmt::format("--device {}", is_gpu(baseline.document) ? "cuda" : "cpu")
          : "measure the earlier version on this device: kiln bench " + text_at(head, "/suite") +
                " --json >FILE";
  throw InputError("compare.device",
                   fmt::format("{} was measured on another device: {}; this run is on: {}",
                               baseline.file, before, now),
                   "figures of different devices are not comparable", fix);
}

/// Rows of kernels have the threads of their document.
Json threads_of(const Json& row, const Json& document) {
  if (row.contains("threads")) return row["threads"];
  return document.contains("threads") ? document["threads"] : Json(nullptr);
}

// A suite may measure several numbers of threads; the number of this run is among them.
void require_same_threads(const Baseline& baseline, const Json& head) {
  const Json& now = head["threads"];
  const Json& document = baseline.document;
  if (!now.is_number()) return;
  const Json& rows = document["rows"];
  const auto agrees = [&](const Json& row) { return threads_of(row, document) == now; };
  if (rows.empty() || std::any_of(rows.begin(), rows.end(), agrees)) return;
  const std::string before = document.value("threads", Json(nullptr)).dump();
  throw InputError(
      "compare.threads",
      fmt::format("{} was measured with another number of threads: {}; this run has {}",
                  baseline.file, clean(before), now.dump()),
      {}, "--threads " + clean(before));
}

// "128 replicas", "1 thread", "parallel-tempering"
std::string text_of(const std::string& field, const Json& value) {
  if (value.is_string()) return clean(value.get<std::string>());
  const bool one = value == 1 && field.ends_with('s');
  return fmt::format("{} {}", value.dump(), one ? field.substr(0, field.size() - 1) : field);
}

/// A row of a document, read.
struct Row {
  std::string name, label;
  std::optional<double> figure;
  double least = 0;  ///< of the figure, where it is null
};

class RowReader {
 public:
  RowReader(std::string file, const Json& document, const RowFigure& figure)
      : file_(std::move(file)), document_(document), figure_(figure) {}

  std::vector<Row> rows() const {
    std::vector<Row> all;
    for (const Json& json : document_.at("rows")) all.push_back(row(json, all.size() + 1));
    return all;
  }

 private:
  Row row(const Json& json, std::size_t number) const {
    if (!json.is_object()) refuse(file_, fmt::format("row {} is not an object", number));
    const auto field = [&](const std::string& name) -> const Json& {
      const auto found = json.find(name);
      if (found == json.end() || found->is_structured()) {
        refuse(file_, fmt::format("row {} has no value '{}'", number, name));
      }
      return *found;
    };
    Row read;
    for (const std::string& name : figure_.name) {
      read.name += (read.name.empty() ? "" : " ") + text_of(name, field(name));
    }
    read.label = read.name;
    for (const std::string& name : figure_.same) {
      const Json& value = field(name);
      if (!value.is_null()) read.label += ", " + text_of(name, value);
    }
    const Json threads = threads_of(json, document_);
    if (!threads.is_null()) read.label += ", " + text_of("threads", threads);
    read_figure(json, number, read);
    return read;
  }

  void read_figure(const Json& json, std::size_t number, Row& read) const {
    const Json::json_pointer place(figure_.field);
    const bool there =
        json.contains(place) && (json.at(place).is_number() || json.at(place).is_null());
    if (!there) refuse(file_, fmt::format("row {} has no number at {}", number, figure_.field));
    const Json& value = json.at(place);
    if (value.is_number() && value.get<double>() > 0) read.figure = value.get<double>();
    if (read.figure || figure_.floor.empty()) return;
    const auto floor = json.find(figure_.floor);
    if (floor != json.end() && floor->is_number()) read.least = floor->get<double>();
  }

  std::string file_;
  const Json& document_;
  const RowFigure& figure_;
};

/// Where the time of a unit of work lies: a rate turns round, and a missing figure has a least
/// value alone.
struct TimeRange {
  double low = 0, high = std::numeric_limits<double>::infinity();
};

TimeRange time_of(const Row& row, bool more_is_better) {
  if (!row.figure) return {more_is_better ? 0 : row.least};
  const double time = more_is_better ? 1 / *row.figure : *row.figure;
  return {time, time};
}

Verdict verdict_of(const Row& before, const Row& now, const ComparedBy& by) {
  const TimeRange was = time_of(before, by.figure.more_is_better);
  const TimeRange is = time_of(now, by.figure.more_is_better);
  const double most = 1 + by.tolerance;
  if (is.low > was.high * most) return Verdict::slower;
  if (was.low > is.high * most) return Verdict::faster;
  return before.figure && now.figure ? Verdict::within : Verdict::unknown;
}

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
    case Verdict::within:
      return "within";
    case Verdict::unknown:
      return "unknown";
    case Verdict::missing:
      return "missing";
    case Verdict::added:
      return "new";
  }
  return "";
}

}  // namespace

Baseline read_baseline(const std::string& path, const RowFigure& figure,
                       const nlohmann::ordered_json& head) {
  DocumentFile file = read_document(path, bench_document);
  Baseline baseline{file.name, std::move(file.json)};
  const Json now = head;
  if (text_at(baseline.document, "/suite").empty()) refuse(baseline.file, "there is no 'suite'");
  if (!baseline.document.contains("rows") || !baseline.document["rows"].is_array()) {
    refuse(baseline.file, "there are no 'rows'");
  }
  require_same_suite(baseline, now);
  require_same_device(baseline, now);
  const std::vector<Row> rows = RowReader(baseline.file, baseline.document, figure).rows();
  if (rows.empty()) refuse(baseline.file, "'rows' has no row");
  require_same_threads(baseline, now);
  return baseline;
}

Comparison compare(const Baseline& baseline, const nlohmann::ordered_json& document,
                   const ComparedBy& by) {
  const Json now = document;
  Comparison result{baseline.file,
                    text_at(baseline.document, "/kiln"),
                    text_at(baseline.document, "/date"),
                    by.figure.unit,
                    by.figure.more_is_better,
                    by.tolerance,
                    {}};
  std::map<std::string, Row> earlier;
  const std::vector<Row> before = RowReader(baseline.file, baseline.document, by.figure).rows();
  for (const Row& row : before) earlier.emplace(row.label, row);
  std::map<std::string, bool> seen;
  for (const Row& row : RowReader("this run", now, by.figure).rows()) {
    seen[row.label] = true;
    const auto found = earlier.find(row.label);
    if (found == earlier.end()) {
      result.rows.push_back({row.label, {}, row.figure, Verdict::added});
    } else {
      result.rows.push_back(
          {row.label, found->second.figure, row.figure, verdict_of(found->second, row, by)});
    }
  }
  for (const Row& row : before) {
    if (!by.whole || seen[row.label] || !by.wants(row.name)) continue;
    result.rows.push_back({row.label, row.figure, {}, Verdict::missing});
    seen[row.label] = true;
  }
  return result;
}

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(rows, verdict, &ComparedRow::verdict));
}

std::size_t Comparison::compared() const {
  return count(Verdict::slower) + count(Verdict::faster) + count(Verdict::within);
}

std::string Comparison::source_line() const {
  return fmt::format("before: {}, kiln {}, {}; figure: {}, {} is better", file, version, date, unit,
                     more_is_better ? "more" : "less");
}

std::string Comparison::summary_line() const {
  const std::size_t all = compared();
  std::string line = fmt::format("{} row{}: {} slower, {} faster, {} within {:g} %", all,
                                 all == 1 ? "" : "s", count(Verdict::slower),
                                 count(Verdict::faster), count(Verdict::within), 100 * tolerance);
  for (const Verdict other : {Verdict::unknown, Verdict::missing, Verdict::added}) {
    if (count(other) > 0) line += fmt::format(", {} {}", count(other), word_of(other));
  }
  return line;
}

std::vector<std::vector<std::string>> Comparison::table() const {
  const auto cell = [](const std::optional<double>& value) {
    return value ? three_digits(*value) : "-";
  };
  std::vector<std::vector<std::string>> cells{{"row", "before", "now", "ratio", "change"}};
  for (const ComparedRow& row : rows) {
    cells.push_back(
        {row.label, cell(row.before), cell(row.now), cell(row.ratio()), word_of(row.verdict)});
  }
  return cells;
}

nlohmann::ordered_json Comparison::json() const {
  using Ordered = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) {
    return value ? Ordered(*value) : Ordered(nullptr);
  };
  Ordered json = {{"file", file},
                  {"kiln", version},
                  {"date", date},
                  {"unit", unit},
                  {"more_is_better", more_is_better},
                  {"tolerance", tolerance}};
  json["rows"] = Ordered::array();
  for (const ComparedRow& row : rows) {
    json["rows"].push_back({{"row", row.label},
                            {"before", number(row.before)},
                            {"now", number(row.now)},
                            {"ratio", number(row.ratio())},
                            {"change", word_of(row.verdict)}});
  }
  for (const Verdict verdict : {Verdict::slower, Verdict::faster, Verdict::within, Verdict::unknown,
                                Verdict::missing, Verdict::added}) {
    json[word_of(verdict)] = count(verdict);
  }
  return json;
}

}  // namespace kiln::cli
