// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/table/table_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kiln/errors.hpp"
#include "kiln/information/estimate_information.hpp"

#include "analysis/map_files.hpp"
#include "analysis/map_text.hpp"
#include "analysis/series/series_text.hpp"
#include "errors.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

// Columns of which all pairs are compared without being asked to.
constexpr std::size_t few_columns = 16;
constexpr std::int64_t default_surrogates = 100;
// Points times links: more would take minutes on a small computer.
constexpr std::int64_t quick_work = 500'000;

bool is_of_one_column(InformationMeasure measure) { return !has_source(measure); }

void require_choice(const TableRequest& request, const std::vector<std::string>& names) {
  const bool of_pairs =
      std::ranges::any_of(request.measures, [](auto m) { return !is_of_one_column(m); });
  if (!of_pairs || request.whole_map || !request.targets.empty()) return;
  if (names.size() <= few_columns) return;
  throw InvalidArgument(
      "analyze.target",
      fmt::format("{} has {} columns of numbers", clean(request.file), names.size()),
      fmt::format("at most {} to compare all pairs of", few_columns),
      fmt::format("--target {} for one of them, or --map for all", clean(names.back())));
}

// Estimates of a map, roughly: it decides on surrogates alone.
std::int64_t links_of(const TableRequest& request, const InformationColumns& which,
                      InformationMeasure measure, std::size_t columns) {
  const auto count = [&](const std::vector<std::int32_t>& some) {
    return static_cast<std::int64_t>(some.empty() ? columns : some.size());
  };
  const std::int64_t lags = std::max<std::int64_t>(1, std::ssize(request.options.lags));
  return count(which.targets) * (is_of_one_column(measure) ? 1 : count(which.sources)) * lags;
}

InformationMap map_of(const TableRequest& request, const std::vector<Series>& columns,
                      const InformationColumns& which, InformationMeasure measure,
                      std::int64_t rows, Backend& backend) {
  InformationOptions options = request.options;
  options.measure = measure;
  const bool conditional = measure == InformationMeasure::conditional_mutual_information ||
                           measure == InformationMeasure::transfer_entropy;
  InformationColumns used = which;
  if (!conditional) used.conditions.clear();
  // The lag of the measure that has no use for it, or another default, beside one that has.
  const bool is_quick = rows * links_of(request, which, measure, columns.size()) <= quick_work;
  options.surrogates = request.surrogates.value_or(is_quick ? default_surrogates : 0);
  if (measure == InformationMeasure::entropy) options.surrogates = 0;
  if (measure != InformationMeasure::transfer_entropy) options.direct = false;
  InformationMap map = estimate_information(columns, used, options, backend);
  if (!request.surrogates && !is_quick && measure != InformationMeasure::entropy) {
    map.notes.push_back(
        fmt::format("no p-values: {} links of {} rows would take long; --surrogates {} gives them",
                    map.links.size(), rows, default_surrogates));
  }
  return map;
}

// A table that cannot be read is a fault of the input.
problems::NumericTable read_table(const TableRequest& request) {
  try {
    return problems::read_numeric_table(request.file, request.reading);
  } catch (const IoError& error) {
    const bool opened = error.code() != "io.open";
    const bool is_name = !opened && request.file.find(':') != std::string::npos;
    throw InputError(opened ? "input.read" : "input.open", error.message(), error.expected(),
                     is_name ? "for a problem: kiln analyze " + clean(request.file) + " --landscape"
                             : error.fix());
  }
}

MapOrigin origin_of(const TableRequest& request) {
  const InformationOptions& o = request.options;
  MapOrigin origin{clean(request.file), {}};
  const auto add = [&](const char* name, const std::string& value) {
    origin.parameters.emplace_back(name, value);
  };
  add("k", o.k == 0 ? "auto" : fmt::format("{}", o.k));
  if (o.type != 1) add("type", fmt::format("{}", o.type));
  if (!o.lags.empty()) add("lag", fmt::format("{}", fmt::join(o.lags, ",")));
  if (o.past != 1) add("past", fmt::format("{}", o.past));
  if (o.source_past != 1) add("source-past", fmt::format("{}", o.source_past));
  if (o.theiler != 0) add("theiler", fmt::format("{}", o.theiler));
  if (o.surrogate_kind) {
    add("surrogate-kind",
        *o.surrogate_kind == SurrogateKind::rotation ? "rotation" : "permutation");
  }
  if (o.direct) add("direct", "yes");
  if (!o.standardize) add("no-standardize", "yes");
  add("seed", fmt::format("{}", o.seed));
  return origin;
}

// A line for each row that is a point, a column for each link with local values, in nats.
std::string local_csv(const InformationMap& map) {
  std::vector<const InformationLink*> links;
  std::string text = "row";
  for (const InformationLink& link : map.links) {
    if (link.estimate.local.empty()) continue;
    links.push_back(&link);
    std::string name = clean(link_name(map, link));
    for (std::size_t at = 0; (at = name.find('"', at)) != std::string::npos; at += 2) {
      name.insert(at, 1, '"');
    }
    text += ",\"" + name + "\"";
  }
  text += "\n";
  for (std::size_t point = 0; point < map.point_rows.size() && !links.empty(); ++point) {
    text += fmt::format("{}", map.point_rows[point] + 1);
    for (const InformationLink* link : links) {
      text += fmt::format(",{}", link->estimate.local[point]);
    }
    text += "\n";
  }
  return text;
}

std::string folder_of(const TableAnalysis& analysis, const InformationMap& map,
                      const std::string& directory) {
  if (analysis.maps.size() == 1) return directory;
  return (std::filesystem::path(directory) / name_of(map.measure)).string();
}

}  // namespace

TableAnalysis analyze_table(const TableRequest& request, Backend& backend) {
  problems::NumericTable table = read_table(request);
  TableAnalysis analysis{request.file, table.rows, table.names,       table.notes,
                         {},           {},         origin_of(request)};
  require_choice(request, table.names);
  const InformationColumns which{column_places(request.sources, table),
                                 column_places(request.targets, table),
                                 column_places(request.conditions, table)};
  if (request.series) {
    std::vector<std::int32_t> chosen = which.targets;
    if (chosen.empty()) {
      chosen.resize(table.names.size());
      std::iota(chosen.begin(), chosen.end(), 0);
    }
    std::vector<SeriesColumn> columns;
    for (const std::int32_t column : chosen) {
      const auto place = static_cast<std::size_t>(column);
      columns.push_back({table.names[place], table.columns[place]});
    }
    const std::unique_ptr<Queue> queue = backend.make_queue();
    analysis.series = analyze_series(*queue, columns, request.series_options);
  }
  if (request.measures.empty()) return analysis;
  std::vector<Series> columns;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    columns.push_back({table.names[c], std::move(table.columns[c])});
  }
  for (const InformationMeasure measure : request.measures) {
    analysis.maps.push_back(map_of(request, columns, which, measure, table.rows, backend));
  }
  return analysis;
}

std::string table_analysis_text(const TableAnalysis& analysis, const TableRequest& request,
                                const std::string& directory, std::size_t columns) {
  std::string text = fmt::format("{}: {} rows, {} columns\n", clean(analysis.file), analysis.rows,
                                 analysis.names.size());
  for (const std::string& note : analysis.notes) text += paragraph(clean(note));
  for (const InformationMap& map : analysis.maps) {
    const std::string file =
        directory.empty() ? "" : folder_of(analysis, map, directory) + "/map.csv";
    text += "\n" + map_text(map, {request.unit, columns, request.whole_map, file});
  }
  if (!analysis.series.empty()) text += "\n" + series_text(analysis.series, false, columns);
  if (!directory.empty()) text += fmt::format("\nfiles        {}\n", clean(directory));
  return text;
}

nlohmann::ordered_json table_analysis_json(const TableAnalysis& analysis) {
  nlohmann::ordered_json json = {{"schema", "kiln.analysis/1"},
                                 {"file", clean(analysis.file)},
                                 {"rows", analysis.rows},
                                 {"columns", nlohmann::ordered_json::array()},
                                 {"notes", nlohmann::ordered_json::array()},
                                 {"maps", nlohmann::ordered_json::array()}};
  for (const std::string& name : analysis.names) json["columns"].push_back(clean(name));
  for (const std::string& note : analysis.notes) json["notes"].push_back(clean(note));
  for (const InformationMap& map : analysis.maps) {
    json["maps"].push_back(map_json(map, analysis.origin));
  }
  json["series"] = series_json(analysis.series);
  return json;
}

void write_table_analysis(const TableAnalysis& analysis, const TableRequest& request,
                          const std::string& directory) {
  namespace fs = std::filesystem;
  const auto make_folder = [](const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
      throw IoError("io.write", fmt::format("cannot make the folder {}: {}", clean(folder.string()),
                                            error.message()));
    }
  };
  std::error_code ignored;
  if (fs::exists(directory, ignored) && !fs::is_empty(directory, ignored)) {
    throw IoError(
        "io.exists",
        fmt::format("{} contains files, and kiln analyze never overwrites any", clean(directory)),
        {}, "another folder, or remove this one");
  }
  make_folder(directory);
  for (const InformationMap& map : analysis.maps) {
    const fs::path folder = folder_of(analysis, map, directory);
    make_folder(folder);
    for (const MapFile& file : map_files(map, analysis.origin, request.unit)) {
      write_file(folder / file.name, file.content);
    }
    if (!map.point_rows.empty()) write_file(folder / "local.csv", local_csv(map));
  }
  if (analysis.series.empty()) return;
  write_file(fs::path(directory) / "series.json", series_json(analysis.series).dump(2) + "\n");
}

}  // namespace kiln::cli
